/* Inline assembly with outputs, memory clobbers and labels; vector types; builtins that become intrinsics. */
#include <stdio.h>

typedef int four __attribute__((vector_size(16)));

static unsigned rotate(unsigned value, unsigned by) {
#if defined(__x86_64__)
    __asm__("roll %%cl, %0" : "+r"(value) : "c"(by) : "cc");
    return value;
#else
    return value << by | value >> (32 - by);
#endif
}

static int barrier(int *at) {
    *at = 5;
    __asm__ volatile("" ::: "memory");
    return *at + 1;
}

int main(void) {
    four a = {1, 2, 3, 4}, b = {10, 20, 30, 40}, c = a * b + a;
    int x = 0, sum = c[0] + c[1] + c[2] + c[3];
    if (__builtin_expect(sum > 5, 1)) x = barrier(&x);
    unsigned turned = rotate(0x80000001u, 4);
    int trailing = __builtin_ctz(40), sign = __builtin_signbit(-1.0) != 0;
    printf("%d %u %d %d %d\n", sum, turned, x, trailing, sign);
    return x;
}
