#include "cases.h"

int case_several_lines(void) {
    int a = 1, b = 2;
    int total = a * 100
        + b * 10
-        + 3;
+        + 4;
    printf("%d\n", total);
    return 0;
}

int case_macro(void) {
    int x = 5;
    int y = SCALED(x);
    printf("%d\n", y);
    return 0;
}

int case_macro_in_macro(void) {
    int x = 5;
    int z = TWICE_SCALED(x);
    printf("%d\n", z);
    return 0;
}

int case_enumerator(void) {
    enum level at = MIDDLE;
    printf("%d\n", at + HIGH);
    return 0;
}

int case_field(void) {
    struct account one;
    one.balance = 300;
    printf("%ld\n", (long)one.balance);
    return 0;
}

int case_inline_function(void) {
    int held = clamped(40);
    printf("%d\n", held);
    return 0;
}

static const struct { const char *name; int price; } menu[] = {
    {"tea", 2},
-    {"cake", 5},
+    {"cake", 4},
    {"soup", 7},
};

int case_table(void) {
    int cost = 0;
    for (int i = 0; i < 3; i++)
        if (menu[i].name[0] == 'c') cost += menu[i].price;
    printf("%d\n", cost);
    return 0;
}

int case_type(void) {
-    int counter = 250;
+    unsigned char counter = 250;
    counter += 10;
    printf("%d\n", counter);
    return 0;
}

static int state = 1;
static void prepare(void) { state = 7; }

int case_removed_statement(void) {
    int total = 100, tax = 20;
-    total += tax;
    printf("%d\n", total);
    return 0;
}

int case_removed_call(void) {
-    prepare();
    printf("%d\n", state);
    return 0;
}

static int positive(int n) {
-    if (n < 0) return 0;
    return n * 2;
}

int case_removed_guard(void) {
    printf("%d %d\n", positive(4), positive(-3));
    return 0;
}

int case_iterations(void) {
    int sum = 0;
    for (int i = 0; i < 5; i++) {
-        int step = i * i;
+        int step = i == 3 ? 100 : i * i;
        sum += step;
    }
    printf("%d\n", sum);
    return 0;
}

int case_not_in_green(void) {
    int mode = 1, level = 0;
-    if (mode == 2)
+    if (mode == 1)
        level = 50;
    printf("%d\n", level);
    return 0;
}

int case_moved(void) {
-    int seed = 2;
+    int seed;
+    int unused = 9;
+    (void)unused;
+    seed = 4;
    int grown = seed * 10;
    printf("%d\n", grown);
    return 0;
}

static int once(int n) { return n; }
static int twice(int n) { return 2 * n; }

struct reader { const char *next; };

int case_asked_apart(void) {
    const char *name = "tea";
    int cost = 3;
-    if (!name || *name != 't')
-        return 9;
+    if (name == NULL)
+        return 9;
+    if (*name != 't')
+        return 9;
    cost *= 2;
    cost += 10;
-    cost += 1;
+    cost += 2;
    printf("%d\n", cost);
    return 0;
}

int case_reordered(void) {
    int (*const made[])(int) = {once, twice};
    struct reader reader = {"\0\1\0\1"};
-    reader.next += 1;
+    reader.next += 2;
    struct reader *from = &reader;
-    int (*got)(int) = made[(int)*from->next];
-    from->next++;
+    int (*got)(int) = made[(int)*from->next++];
    printf("%d %d\n", got(4), *from->next);
    return 0;
}

/* A rewritten statement that makes a temporary and copies it, on values that are wrong already. */
struct activation { int *closure; int *slots; };
int case_literal(void) {
    int cells[4] = {1, 2, 3, 4};
-    int first_slot = 1;
+    int first_slot = 2;
    struct activation made, *frame = &made;
-    frame->closure = cells;
-    frame->slots = cells + first_slot;
+    *frame = (struct activation){.closure = cells, .slots = cells + first_slot};
    printf("slot %d of %d\n", *frame->slots, *frame->closure);
    return 0;
}

/* A branch put into a new one, which keeps the run from it. */
struct page { int length; char text[20]; };
static void put(struct page *page, const char *text) {
    while (*text)
        page->text[page->length++] = *text++;
}
static void mark(struct page *page, int inner, int entering) {
    switch (page->length % 2) {
    case 0:
-        if (entering) {
-            put(page, "<<");
-        } else {
-            put(page, ">>");
-        }
+        if (inner == 0 || inner != 1) {
+            if (entering) {
+                put(page, "<<");
+            } else {
+                put(page, ">>");
+            }
+        }
        break;
    case 1:
        put(page, "?");
        break;
    }
}
int case_enclosed(void) {
    struct page page = {0};
    mark(&page, 0, 1);
    put(&page, "ab");
    mark(&page, 1, 1);
    put(&page, "cd");
    printf("page %s\n", page.text);
    return 0;
}

int case_shared_inline(void) {
-    int given = 4;
+    int given = 5;
    int all = tripled(given);
    printf("%d\n", all);
    return 0;
}
