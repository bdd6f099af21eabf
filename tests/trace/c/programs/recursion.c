/* Recursion, mutual recursion, static locals, a function called through its own pointer. */
#include <stdio.h>

static int calls(void) {
    static int count = 100;
    count += 1;
    return count;
}

static int fibonacci(int n) {
    calls();
    if (n < 2) return n;
    return fibonacci(n - 1) + fibonacci(n - 2);
}

static int is_odd(unsigned n);
static int is_even(unsigned n) { return n == 0 ? 1 : is_odd(n - 1); }
static int is_odd(unsigned n) { return n == 0 ? 0 : is_even(n - 1); }

static long ackermann(long m, long n) {
    return !m ? n + 1 : ackermann(m - 1, n ? ackermann(m, n - 1) : 1);
}

int main(void) {
    int (*through)(int) = fibonacci;
    int sum = fibonacci(6) + through(5);
    printf("%d %d %d %ld %d\n", sum, is_even(7), is_odd(9), ackermann(2, 2), calls());
    return sum;
}
