#include "cases.h"

int case_assertion(void) {
    int a = 3, b = 4;
-    int sum = a + b;
+    int sum = a - b;
    int doubled = sum * 2;
    assert(doubled == 14);
    return 0;
}

int case_aborting(void) {
-    int limit = 10;
+    int limit = 5;
    for (int i = 0; i < 7; i++) {
        if (i > limit) {
            fprintf(stderr, "over\n");
            abort();
        }
    }
    return 0;
}

static int *found(int *table, int key) {
-    for (int i = 0; i < 3; i++)
+    for (int i = 0; i < 2; i++)
        if (table[i] == key) return &table[i];
    return NULL;
}

int case_null(void) {
    int table[] = {7, 8, 9};
    int *at = found(table, 9);
    *at = 5;
    return table[2] != 5;
}

struct token { int kind, line, column, at; };

static int place_of(const struct token *token) {
    return token->at;
}

int case_field_of_null(void) {
    struct token token = {1, 2, 3, 4};
-    int at = place_of(&token);
+    int at = place_of(NULL);
    return at != 4 || token.kind != 1;
}

static int cells[8];

int case_bounds(void) {
-    long index = 3;
+    long index = 3L << 40;
    cells[index] = 1;
    return cells[3] != 1;
}

int case_division(void) {
    int shares = 4;
-    shares -= 3;
+    shares -= 4;
    int each = 100 / shares;
    return each != 100;
}

static int depth(int n) {
-    if (n <= 0) return 0;
+    if (n == -1) return 0;
    int pad[64];
    pad[n & 63] = n;
    return depth(n - 2) + pad[n & 63];
}

int case_overflowing(void) { return depth(8) != 20; }

static void *nothing(void) {
-    return "text";
+    return NULL;
}

int case_library_crash(void) { return strlen(nothing()) != 4; }

int case_copy_crash(void) {
    char to[8];
    const void *from = nothing();
    memcpy(to, from, 5);
    return to[0] != 't';
}
