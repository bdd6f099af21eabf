/* A call was put in of a function that calls what the test counts. */
#include <stdio.h>

static int asked = 0;
int known = 0;

static int state(void) {
    asked += 1; // differs
    return 5; // differs
}

int works(int (*of)(void)) {
    int got = of(); // differs
    return got != 0; // differs
}

int found(int (*of)(void)) {
    return of != 0;
}

static int shown_again(void) {
-    int unit = 4;
+    int unit = 2 + 2;
    if (!unit) return 1;
-    known = found(state);
+    known = works(state); // root differs
    return state();
}

int case_called_again(void) {
    int got = shown_again();
    printf("%d\n", got > 0 ? asked : 0); // differs
    return 0;
}
