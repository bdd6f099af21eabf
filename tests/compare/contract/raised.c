/* The run is ended by an abort (in Python by an exception). */
#include <stdio.h>
#include <stdlib.h>

static void check(int size, int limit) { // differs
    if (size > limit) // true was false
        abort(); // differs
}

int case_raised(void) {
+    int noise = 6;
+    noise -= 1;
-    int limit = 10; // root
+    int limit = 5; // root 5 was 10
    int given = limit; // 5 was 10
-    int size = 7;
+    int size = 3 + 4;
    check(size, given);
    puts("done");
    return 0;
}
