/* What a function wrote is written by its caller since, under a condition that was written anew. */
#include <string.h>
#include <unistd.h>

static int put_text(const char *text) {
    return write(1, text, strlen(text)) < 0;
}

-static int put_end(int flags) {
-    if (flags)
-        return put_text("ended");
-    return 0;
-}

int case_inlined(void) {
    volatile int flags = 1;
    int failed = 0;
    if (put_text("begun "))
        return 1;
-    return put_end(flags);
+    if ((flags & 3) == 3)
+        return put_text("ended");
+    return failed;
}
