#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

-#define SCALED(x) ((x) * 3)
+#define SCALED(x) ((x) * 2)
#define TWICE_SCALED(x) (SCALED(x) * 2)

-enum level { LOW = 1, MIDDLE = 5, HIGH = 9 };
+enum level { LOW = 1, MIDDLE = 4, HIGH = 9 };

struct account {
    char name[8];
-    long balance;
+    signed char balance;
};

static inline int tripled(int x) {
    int triple = 3 * x;
    return triple;
}

static inline int clamped(int x) {
-    return x > 10 ? 10 : x;
+    return x > 10 ? 11 : x;
}
