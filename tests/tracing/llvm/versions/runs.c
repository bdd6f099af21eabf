#include "cases.h"

static int sum;
static void add(int n) { sum += n; }
static void take(int n) { sum -= n; }
static void (*const operations[])(int) = {add, take};

int case_dispatch(void) {
-    int code = 0;
+    int code = 1;
    operations[code](4);
    printf("%d\n", sum);
    return 0;
}

static void show(char *to, int value) { to[0] = (char)('0' + value); }

int case_peeled(void) {
    char text[4] = {0};
    int given[3] = {1, 2, 3};
-    for (int i = 0; i < 1; i++) {
-        if (i > 0) text[3] = 0;
-        show(text, given[i] * 2);
-    }
+    show(text, given[0] * 3);
    puts(text);
    return 0;
}

static int stored;
static void put(int n) { stored = n; }
static void (*writer)(int) = put;

int case_missed(void) {
    int room = 5;
-    int most = 9;
+    int most = 3;
    if (room < most)
        writer(7);
    printf("%d\n", stored);
    return 0;
}

struct item { char name; };

int case_chosen(void) {
    struct item *one = malloc(sizeof *one), *two = malloc(sizeof *two);
    one->name = 'a';
    two->name = 'b';
-    struct item *chosen = one;
+    struct item *chosen = two;
    printf("%c\n", chosen->name);
    return 0;
}

int case_conduct(void) {
    int whole = 40;
-    int half = whole / 2;
+    int half = whole >> 1;
    int kept = whole;
-    int third = whole / 3;
+    int third = whole / 4;
    printf("%d\n", half + third + kept);
    return 0;
}
