/* A statement was put in. */
#include <stdio.h>

int case_extra_statement(void) {
    int total = 10;
-    int unit = 4;
+    int unit = 2 + 2;
    if (!unit) return 1;
+    total = total - 3; // root differs
    int shown = total * unit; // 28 was 40
    printf("%d\n", shown); // differs
    return 0;
}
