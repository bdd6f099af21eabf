/* What should be printed is not. */
#include <stdio.h>

int case_missing_output(void) {
-    int noise = 1;
+    int noise = 2;
    int found = 3;
-    int limit = 2; // root
+    int limit = 4; // root 4 was 2
    puts("begin");
    if (found > limit) // false was true
        puts("more");
    return noise > 9;
}
