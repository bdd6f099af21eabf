/* Control that is handed on without a condition: a way out that was taken out or put in, a label that moved. */
#include <stdio.h>
#include <string.h>

static int priced_by_kind(int kind) {
    int price = 0;
    switch (kind) {
    case 1:
        price = 10;
-        break;
    case 2:
        price = 20;
        break;
    default:
        price = 30;
    }
    return price;
}

int case_fell_through(void) {
    volatile int kind = 1;
    int price = priced_by_kind(kind);
    printf("%d\n", price);
    return 0;
}

static int weighed_by_kind(int kind) {
    int weight = 0;
    switch (kind) {
    case 1:
        weight += 10;
+        break;
    case 2:
        weight += 20;
        break;
    default:
        weight = 30;
    }
    return weight;
}

int case_cut_short(void) {
    volatile int kind = 1;
    int weight = weighed_by_kind(kind);
    printf("%d\n", weight);
    return 0;
}

static int first_of(const int *given, int count, int wanted) {
    int found = -1;
    for (int i = 0; i < count; i++)
        if (given[i] == wanted) {
            found = i;
-            break;
        }
    return found;
}

int case_searched_on(void) {
    int given[] = {1, 5, 5, 2};
    int found = first_of(given, 4, 5);
    printf("%d\n", found);
    return 0;
}

static int grouped(int letter) {
    int group = 0;
    switch (letter) {
-    case 'x':
+    case 'X':
        group = 10;
        break;
    case 'y':
        group = 20;
        break;
    }
    return group;
}

int case_another_label(void) {
    volatile int letter = 'x';
    int group = grouped(letter);
    printf("%d\n", group);
    return 0;
}

static int ranked(int letter) {
    switch (letter) {
    case 'a':
        return 1;
-    case 'b':
-        return 2;
    default:
        return 9;
    }
}

int case_label_taken_out(void) {
    volatile int letter = 'b';
    int rank = ranked(letter);
    printf("%d\n", rank);
    return 0;
}

int case_line_taken_out(void) {
    puts("one");
-    puts("two");
    puts("six");
    return 0;
}

static int raised;
static void raise_it(void) { raised += 5; }

int case_called_as_well(void) {
    raise_it();
+    raise_it();
    printf("%d\n", raised);
    return 0;
}

static int lowered = 9;
static void lower_it(void) { lowered -= 2; }

int case_called_once_less(void) {
    lower_it();
-    lower_it();
    printf("%d\n", lowered);
    return 0;
}

int case_line_put_in(void) {
    puts("left");
+    puts("more");
    puts("rest");
    return 0;
}

static int dirty;
static void put_out(void) { puts("it was put out"); }

int case_called_whatever(void) {
-    if (dirty)
-        put_out();
+    put_out();
    puts("it ends");
    return 0;
}

static void say(int n) { printf("said "); }
static int beside(int n) {
-    int twice = n * 2;
+    int twice = n << 1;
    return twice;
}

static int beside_that(int n) {
-    int thrice = n * 3;
+    int thrice = n + n + n;
    return thrice;
}

int case_literal_beside(void) {
    say(beside(2) + beside_that(3));
-    int shown = 7;
+    int shown = 8;
    printf("%d\n", shown);
    return 0;
}

static int option_of(const char *name, const char *first, const char *second) {
-    if (strcmp(name, "plug") == 0 && first) return 1;
+    if (strcmp(name, "plug") == 0 && first && !second) return 1;
    if (strcmp(name, "verb") == 0) return 2;
    return 3;
}

int case_once_elsewhere(void) {
    const char *names[] = {"plug", "verb"};
    int sum = 0;
    for (int at = 0; at < 2; at++) {
        int option = option_of(names[at], "1", at ? NULL : "2");
        if (option == 3) {
            puts("no such option");
            return 1;
        }
        sum += option;
    }
    printf("%d\n", sum);
    return 0;
}
