/* Integer widths, signedness, compound assignment, shifts, division, overflow, 128 bits, _Bool, char. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>

typedef __int128 wide;
static volatile int one = 1;

int main(void) {
    int8_t small = 100;
    small += 100;
    uint8_t octet = 250;
    octet *= 3;
    uint16_t half = 65535;
    half++;
    int32_t a = INT_MAX - one;
    a ^= 0x55;
    a %= 1000;
    a <<= 3;
    a -= 7;
    a /= -3;
    uint32_t u = 7;
    u -= 8;
    u >>= 3;
    u |= 0x80000000u;
    u &= ~1u;
    int64_t wide64 = INT64_MIN;
    wide64 >>= 60;
    wide64 += u;
    wide big = (wide)1 << 100;
    big += a;
    big *= 3;
    unsigned __int128 ubig = (unsigned __int128)big;
    ubig /= 7;
    _Bool flag = u;
    flag ^= one > 5;
    char letter = 'a';
    letter -= 32;
    int i = 5;
    i = i++ + ++i;
    int negative = -17, remainder = negative % 5, quotient = negative / 5;
    unsigned ones = (unsigned)__builtin_popcount(0xf0f0u), zeros = (unsigned)__builtin_clz(16u);
    int sum, overflowed = __builtin_add_overflow(INT_MAX, one, &sum);
    printf("%d %u %u %d %u %lld\n", small, octet, half, a, u, (long long)wide64);
    printf("%llu %llu %d %c %d %d %d\n", (unsigned long long)(ubig >> 64), (unsigned long long)ubig, flag, letter, remainder, quotient, i > 0);
    printf("%u %u %d %d %u\n", ones, zeros, overflowed, sum, __builtin_bswap32(0x01020304u));
    return (int)(u % 64);
}
