#include <stdio.h>

/* The failing run ends early; what corresponds to its end is long gone from the green run's window. */
-#define STEP 1
+#define STEP 3
static int weight(int n) { return n % 5 * STEP; }

static int count(int rounds) {
    int sum = 0;
    for (int round = 0; round < rounds; round++) {
        sum += weight(round);
        if (sum > 4 * round + 40) {
            puts("too much");
            return 1;
        }
    }
    return 0;
}

int case_early(void) { return count(3) + count(30000); }
