/* A statement was taken out. */
#include <stdio.h>

int case_missing_statement(void) {
+    int noise = 1;
+    noise = noise * 4;
    int total = 10;
    int tax = 5;
-    total += tax; // root
    int shown = total * 2; // 20 was 30
-    int rest = 3;
+    int rest = 4;
    printf("%d\n", shown); // differs
    return rest > 9;
}
