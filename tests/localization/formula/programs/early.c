#include <stdio.h>
#include <stdlib.h>

struct day {
    int wind;
    int best;
};

static int larger(int a, int b)
{
    return a > b; /* 1 */
}

int main(int argc, char **argv)
{
    struct day day = {0, 0};
    int unused = 0; /* 2 */
    int gust = atoi(argv[1]);
    int rounds = 0;

    day.wind = gust + 4; /* 3 */
    unused = gust + 1;
    if (larger(day.wind, 20)) /* 4 */
        day.best = 2; /* 5 */
    for (int i = 0; i < 400; i++)
        rounds++;
    printf("%d\n", rounds);
    printf("%d\n", day.best + day.wind); /* 6 */
    return unused == -1;
}
