/* A condition is another one: the other side of a branch is taken. */
#include <stdio.h>

int case_wrong_branch(void) {
    int level = 4;
-    int spare = level - 1;
+    int spare = level - 2;
+    spare += 1;
    int shown = 0;
-    if (level > 3) // root
+    if (level > 5) // root false was true
        shown = 9;
    else
        shown = 2; // differs
    printf("%d\n", shown); // differs
    return spare > 9;
}
