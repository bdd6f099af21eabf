#include "cases.h"

static int verbose, concluded;

static void conclude(int ignored) {
    if (ignored) {
-        if (verbose)
        // two for each
            concluded += 2;
    }
}

-static void run_all(void) {
-    conclude(0);
-    conclude(1);
-}
-
static void run_group(void) {
-    run_all();
+    conclude(0);
+    conclude(1);
}

int case_taken_in(void) {
    run_group();
    printf("%d\n", concluded);
    return 0;
}

static int stated;

static void state(int ignored) {
    if (ignored) {
-        if (verbose)
        // three for each
            stated += 3;
    }
}

+static void state_all(void) {
+    state(0);
+    state(1);
+}
+
static void state_group(void) {
-    state(0);
-    state(1);
+    state_all();
}

int case_taken_out(void) {
    state_group();
    printf("%d\n", stated);
    return 0;
}
