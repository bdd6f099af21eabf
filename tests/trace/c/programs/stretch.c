/* Records of every kind in numbers: long stretches without a call, copies at their ends, deep calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEN(x) x x x x x x x x x x
static volatile int cell;
static int table[16];

static int straight(int x) {
    TEN(TEN(x += cell; table[x & 15] = x; cell = x & 3;))
    return x;
}

static int copies(int x) {
    char from[40], to[40];
    memset(from, x, sizeof from);
    TEN(TEN(memcpy(to, from, sizeof to); from[3] = to[2];))
    return to[3];
}

static int deep(int n) { return n ? deep(n - 1) + 1 : copies(n); }

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 3, sum = 0;
    for (int i = 0; i < rounds; i++) {
        sum = straight(sum) & 1023;
        sum += copies(i);
        sum += deep(i % 50);
        table[sum & 15] ^= i;
    }
    printf("%d %d\n", sum, table[5]);
    if (argc > 2 && !strcmp(argv[2], "crash")) {
        cell = 4711;
        *(volatile int *)(long)(argc - 3) = sum;
        cell = 4712;
    }
    if (argc > 2 && !strcmp(argv[2], "kill")) abort();
    if (argc > 2 && !strcmp(argv[2], "overflow")) return deep(1 << 30);
    return 0;
}
