/* float, double, long double, complex; conversions both ways; NaN, infinity, comparison chains; libm. */
#include <complex.h>
#include <math.h>
#include <stdio.h>

static float narrow(double d) { return (float)d; }

static long double power(long double base, int n) {
    long double result = 1.0L;
    while (n-- > 0) result *= base;
    return result;
}

int main(void) {
    float f = 0.1f;
    double d = 0.1, sum = 0;
    for (int i = 0; i < 10; i++) {
        f += 0.1f;
        sum += d * i;
    }
    double nan = __builtin_nan(""), inf = 1.0 / (sum - sum);
    int ordered = nan < 1 || nan >= 1 || nan == nan, unordered = nan != nan;
    int less = inf > 1e300, up = (int)(sum + 0.5), down = (int)-2.75;
    unsigned u = (unsigned)3.99;
    long long big = (long long)1e15;
    double back = (double)u + (double)down + (double)(unsigned char)250 + (float)big;
    long double exact = power(1.5L, 7);
    double _Complex z = (1.0 + 2.0 * I) * (0.5 - 1.0 * I);
    double rooted = sqrt(sum) + fabs(-d) + floor(2.5);
    double negated = -sum;
    _Bool truth = d;
    printf("%.6f %.6f %d %d %d %d %d\n", f, sum, ordered, unordered, less, up, down);
    printf("%.3f %.6Lf %.2f %.2f %.6f %.3f %d %.9g\n", back, exact, creal(z), cimag(z), rooted, negated, truth, narrow(1.0 / 3));
    return up;
}
