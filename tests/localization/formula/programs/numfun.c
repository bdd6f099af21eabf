#include <stdio.h>

int numfun(int a, int b, int c, int d, int e)
{
    int cond, x, y, z, f, g;
    cond = (a > 0) & (b > 0) & (c > 0) & (d > 0) & (e > 0); /* 1 */
    if (cond) {                                             /* 2 */
        x = a * c;                                          /* 3 */
        y = b * d;                                          /* 4 */
        z = c * e;                                          /* 5 */
        f = x + y - a;                                      /* 6 */
        g = y + z;                                          /* 7 */
    }
    printf("%d\n", f);
    printf("%d\n", g);
    return 0;
}
