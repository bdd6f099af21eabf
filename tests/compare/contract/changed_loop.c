/* A loop makes one round less. */
#include <stdio.h>

int case_changed_loop(void) {
+    int noise = 2;
+    noise--;
    int total = 0;
-    for (int i = 0; i < 4; i++) // root
+    for (int i = 0; i < 3; i++) // root differs
        total += i;
-    int scale = 10;
+    int scale = 5 + 5;
    int shown = total * scale; // 30 was 60
    printf("%d\n", shown); // differs
    return 0;
}
