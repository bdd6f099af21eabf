/* Numbers that are followed, but not computed with. */
#include <complex.h>
#include <stdio.h>
#include <strings.h>

static int given_single(int n) {
-    return n + 1;
+    return n + 2;
}

int case_single(void) {
    float share = given_single(4) / 3.0f;
    printf("%.3f\n", share);
    return 0;
}

static int given_extended(int n) {
-    return n + 3;
+    return n + 4;
}

int case_extended(void) {
    long double share = given_extended(4);
    share /= 3;
    printf("%.3Lf\n", share);
    return 0;
}

static int given_double_word(int n) {
-    return n + 5;
+    return n + 6;
}

int case_double_word(void) {
    __int128 area = given_double_word(4);
    area *= area;
    printf("%d\n", (int)area);
    return 0;
}

static int given_by_library(int n) {
-    return n + 7;
+    return n + 8;
}

int case_by_library(void) {
    int given = given_by_library(1);
    printf("%d\n", ffs(given) + given);
    return 0;
}

static int level_of_two(void) {
-    return 2;
+    return 3;
}

int case_widened(void) {
-    short below = -5;
+    int below = -5;
    printf("%d\n", below * level_of_two());
    return 0;
}
