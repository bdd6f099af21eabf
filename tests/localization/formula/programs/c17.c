/* ISCAS-85 c17: the published netlist of six NAND gates, a statement a gate. */
#include <stdio.h>

#define NAND(a, b) (!((a) & (b)))

int c17(int n1, int n2, int n3, int n6, int n7)
{
    int n10, n11, n16, n19, n22, n23;
    n10 = NAND(n1, n3);   /* 10 */
    n11 = NAND(n3, n6);   /* 11 */
    n16 = NAND(n2, n11);  /* 16 */
    n19 = NAND(n11, n7);  /* 19 */
    n22 = NAND(n10, n16); /* 22 */
    n23 = NAND(n16, n19); /* 23 */
    printf("%d\n", n22);
    printf("%d\n", n23);
    printf("%d\n", n19); /* a wire that is not an output of c17, probed as a third one */
    return 0;
}
