/* A statement computes another value. */
#include <stdio.h>

int case_wrong_value(void) {
+    int noise = 3;
+    noise += 2;
    int width = 6;
    int height = 7;
-    int area = width * height; // root
+    int area = width + height; // root 13 was 42
    int depth = 2;
-    int half = width / 2;
+    int half = width >> 1;
    printf("%d\n", area); // differs
    return half < depth;
}
