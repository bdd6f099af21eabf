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

static const unsigned char code[] = {0, 1, 2, 3, 4, 2, 2, 2, 2, 5};
static const unsigned char *next = code;
static int level = 3, flag, running = 1;
-static void op_test(void) { flag = level > 2; }
+static void op_test(void) { flag = level > 5; }
static void op_skip(void) { next += flag ? 0 : 3; }
static void op_idle(void) { flag = 0; }
static void op_twice(void) { flag = 2; }
static void op_raise(void) { level = 70; }
static void op_stop(void) { running = 0; }
static void (*const steps[])(void) = {op_test, op_skip, op_idle, op_twice, op_raise, op_stop};

int case_rounds(void) {
    while (running)
        steps[*next++]();
    printf("%d\n", level);
    return 0;
}

int case_ternary(void) {
    int base = 3;
-    int wide = 1;
+    int wide = 0;
    int found = wide ? 10 : base;
    printf("%d\n", found);
    return 0;
}

struct pair { long first, second, third; };
struct row { struct pair items[2]; };

int case_struct_through_pointer(void) {
    struct row low = {{{1, 2, 3}, {4, 5, 6}}}, high = {{{7, 8, 9}, {10, 11, 12}}};
-    struct row *chosen = &low;
+    struct row *chosen = &high;
    struct pair taken = chosen->items[1];
    printf("%ld\n", taken.second);
    return 0;
}

static struct { char title[16], body[16]; } page;

int case_bounded(void) {
-    strcpy(page.body, "old");
+    strcpy(page.body, "new");
    snprintf(page.title, sizeof page.title, "%d", stored);
    putchar(page.body[0]);
    return 0;
}

-static int least(int x) { return x > 7 ? 7 : x; }
+static int least(int x) { return x > 7 ? 8 : x; }

int case_returned(void) {
    int found = least(9);
    printf("%d\n", found);
    return 0;
}

static struct { int size; unsigned fixed : 1, used : 1; } entry;

static void declare(int fixed) {
    entry.size = 4;
-    entry.fixed = fixed;
    entry.used = 1;
+    (void)fixed;
}

int case_rewritten(void) {
    declare(1);
-    int wrong = entry.size > 3 ? entry.fixed : 0;
+    int wrong = entry.size > 9 && entry.used;
    if (wrong)
        puts("fixed");
    return 0;
}

int other_module(void) {
    return tripled(2);
}

/* The two versions number the instructions otherwise, and one of them goes on a round more for each. */
-enum order { LINE, PUSH, PLUS, TIMES, LESS, SWAP, DROP, TELL, HALT };
+enum order { PUSH, PLUS, TIMES, LESS, SWAP, DROP, TELL, HALT };
static int orders[64], written, line_now, top, stack[8];

static void emit(int order) {
-    orders[written++] = LINE;
-    orders[written++] = 1;
    orders[written++] = order;
}

static void emit_push(int value) {
    emit(PUSH);
-    orders[written++] = value;
+    orders[written++] = value < 4 ? value : 0;
}

static void interpret(void) {
    for (int at = 0;;) {
        switch (orders[at++]) {
-        case LINE: line_now = orders[at++]; break;
        case PUSH: stack[++top] = orders[at++]; break;
        case PLUS: top--; stack[top] += stack[top + 1]; break;
        case TIMES: top--; stack[top] *= stack[top + 1]; break;
        case LESS: top--; stack[top] -= stack[top + 1]; break;
        case SWAP: line_now = stack[top]; stack[top] = stack[top - 1]; stack[top - 1] = line_now; break;
        case DROP: top--; break;
        case TELL: printf("%d\n", stack[top]); break;
        case HALT: return;
        }
    }
}

int case_interpreted(void) {
    emit_push(2);
    emit_push(3);
    emit(PLUS);
    emit_push(4);
    emit(TIMES);
    emit_push(1);
    emit(PLUS);
    emit(TELL);
    emit(HALT);
    interpret();
    return 0;
}

struct check {
    int (*judge)(const struct check *);
    int most;
};

static int refuses(const struct check *check) { return check->most < 0; }
static int fits(const struct check *check) { return check->most > 2; }

static struct check never = {.judge = refuses};

static struct check *settled(int known, struct check *given) { return known == 2 ? &never : given; }

int case_stand_in(void) {
    struct check *given = malloc(sizeof *given);
    given->judge = fits;
    given->most = 3;
-    int known = 1;
+    int known = 2;
    struct check *used = settled(known, given);
    int judged = used->judge(used);
    printf("it %s\n", judged ? "fits" : "is refused");
    return 0;
}
