/* A guard was taken out: what it kept from happening happens. */
#include <stdio.h>

static int root_of(int n) {
-    if (n < 0) // root
-        return 0;
    return n + 1; // differs
}

int case_removed_guard(void) {
+    int noise = 8;
+    noise /= 2;
    int given = -4;
    int shown = root_of(given); // differs
-    int more = 6;
+    int more = 7;
    printf("%d\n", shown); // differs
    return more > 9;
}
