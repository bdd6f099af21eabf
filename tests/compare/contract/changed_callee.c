/* A function does something else on the same arguments, another does the same in other words. */
#include <stdio.h>

static int half(int x) {
-    return x / 2; // root
+    return (x + 1) / 2; // root 4 was 3
}

static int twice(int x) {
-    return x + x;
+    return 2 * x;
}

int case_changed_callee(void) {
    int whole = 7;
    int doubled = twice(whole);
    int halved = half(whole); // differs
    printf("%d of %d\n", halved, doubled); // differs
    return 0;
}
