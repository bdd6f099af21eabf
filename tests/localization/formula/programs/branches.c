#include <assert.h>

int P(int x, int y)
{
    int a, b;
    if (x >= 0)       /* 1 */
        a = x;        /* 2 */
    else
        a = -x;       /* 4 */
    if (y < 5)        /* 5 */
        b = a + 1;    /* 6 */
    else
        b = a + 2;    /* 8 */
    assert(b <= a);   /* 9 */
    return 0;
}
