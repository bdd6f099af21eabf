/* Branches and what they decide; lines are found by the names in their comments. */
#include <stdio.h>
#include <stdlib.h>

static int level;
static struct { int depth, width; } box = {1, 2};

static void adjust(int by) {
    if (by > 100)                       /* adjust-guard */
        level = by;
    if (by < 0)                         /* adjust-negative */
        box.depth = by;
}

static int early(int n) {
    if (n < 0)                          /* early-out */
        return -1;
    return n * 2;                       /* early-result */
}

static int loops(int n) {
    int sum = 0, last = 0;              /* loops-defined */
    for (int i = 0; i < n; i++) {       /* loop */
        if (i % 2)                      /* odd */
            sum += i;                   /* add */
        else if (i > 100)               /* far */
            last = i;
    }
    return sum + last;                  /* loop-result */
}

static int chosen(int kind, int a, int b) {
    int picked = 0, other = 1;
    switch (kind) {                     /* switch */
    case 1: picked = a; break;          /* case-1 */
    case 2: picked = b;                 /* case-2 */
    default: other = 7;
    }
    if (a > b && b > 0)                 /* both */
        other = 5;                      /* both-body */
    return picked * other;              /* chosen-result */
}

static int outer(void) {
    int picked = 3;                     /* outer-defined */
    level += chosen(1, 1, 1);
    return picked;                      /* outer-use */
}

/* AFTER, Fig. 5: the branch on x decides a directly, the one on y only what was not executed. */
static int figure(int x, int y, int z) {
    int a = 0, b = 1;                   /* b-defined */
    if (x > 0)                          /* direct */
        a = z;                          /* a-defined */
    if (y > 0)                          /* indirect */
        b = 2;
    if (z > 100)                        /* unrelated */
        z = 0;
    if (y > 0)                          /* around */
        if (x > 50)                     /* not-executed */
            b = 3;
    return a + b;                       /* figure-use */
}

int main(int argc, char **argv) {
    int seen = 0;
    level = 3;                          /* level-defined */
    adjust(argc);
    box.depth = 4;                      /* depth-defined */
    adjust(argc + 1);
    seen = level + box.depth;           /* global-use */
    do {
        seen++;                         /* body */
    } while (seen < 9);                 /* do-while */
    printf("%d %d %d %d %d\n", seen, early(4), loops(4), chosen(2, 3, 1), figure(1, argc - 1, 5) + outer());
    if (seen == 9)                      /* last */
        exit(box.width);                /* leaves */
    return 0;
}
