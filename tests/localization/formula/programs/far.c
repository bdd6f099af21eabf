/* Past what all paths can be encoded for: a loop of thousands of rounds, recursion, floats. */
#include <stdio.h>
#include <stdlib.h>

static int depth(int n)
{
    if (n <= 0)
        return 0;
    return 1 + depth(n - 1);
}

int main(int count, char **words)
{
    int n = atoi(words[1]);
    int i, sum = 0, scaled;
    double mean;
    if (count != 2)
        return 2;
    for (i = 0; i < n; i++)
        sum = sum + i % 7;
    mean = sum / (double)n;
    scaled = (int)(mean * 10.0) + depth(20);
    if (scaled > 45)
        scaled = scaled - 5; /* 1 */
    printf("%d\n", scaled);
    return 0;
}
