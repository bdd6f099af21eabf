/* Blocks in a row without a loop or a call: three times as many records as may be written between two
 * looks at the ring. */
#include <stdio.h>
#include <stdlib.h>

#define ONE(n)                        \
    if (x & 1u << (n) % 31)           \
        total += (n);                 \
    else                              \
        total ^= (n);
#define TEN(n) \
    ONE(n) ONE(n + 1) ONE(n + 2) ONE(n + 3) ONE(n + 4) ONE(n + 5) ONE(n + 6) ONE(n + 7) ONE(n + 8) ONE(n + 9)

static unsigned folded(unsigned x) {
    unsigned total = 0;
    TEN(0) TEN(10) TEN(20) TEN(30) TEN(40) TEN(50) TEN(60) TEN(70) TEN(80) TEN(90)
    TEN(100) TEN(110) TEN(120) TEN(130) TEN(140) TEN(150) TEN(160) TEN(170) TEN(180) TEN(190)
    return total;
}

int main(int argc, char **argv) {
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 2, sum = 0;
    for (unsigned n = 0; n < rounds; n++) sum += folded(n * 2654435761u);
    printf("%u\n", sum);
    return 0;
}
