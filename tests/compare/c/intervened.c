#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct box { int size; };
struct pair { long first, second, third; };

static int local(int n) {
-    int size = n * 3;
+    int size = n * 2;
    return size == 9 ? 0 : 1;
}

static int field(int n) {
    struct box *box = malloc(sizeof *box);
-    box->size = n * 3;
+    box->size = n * 2;
    int wrong = box->size != 9;
    free(box);
    return wrong;
}

static int real(int n) {
-    double half = n * 0.5;
+    double half = n * 0.25;
    return half == 1.5 ? 0 : 1;
}

static int added(int n) {
-    return n + 6;
+    return n + 5;
}

static int result(int n) {
    return added(n) == 9 ? 0 : 1;
}

static int library(int n) {
-    const char *text = n == 3 ? "12" : "0";
+    const char *text = n == 3 ? "13" : "0";
    long value = strtol(text, NULL, 10);
    return value == 12 ? 0 : 1;
}

static int written(int n) {
    char text[8];
-    snprintf(text, sizeof text, "%d", n);
+    snprintf(text, sizeof text, "%d", n + 1);
    return text[0] == '3' ? 0 : 1;
}

static int condition(int n) {
    int found = 0;
-    if (n > 2)
+    if (n > 3)
        found = 1;
    return found ? 0 : 1;
}

static int instance(int n) {
    int found = 0;
    for (int at = 0; at <= 1000 * n; at++)
-        if (at == 3000)
+        if (at == 4000)
            found = 1;
    return found ? 0 : 1;
}

static int chosen(int n) {
-    int kind = n;
+    int kind = n + 1;
    n = kind;
    switch (n) {
    case 3:
        return 0;
    case 4:
        return 1;
    default:
        return 2;
    }
}

static int missing(int n) {
-    const char *name = n > 2 ? NULL : "name";
+    const char *name = n > 3 ? NULL : "name";
    return name == NULL ? 0 : 1;
}

static int not_enough(int n) {
-    int twice = n * 2;
+    int twice = n * 3;
-    int again = n * 2;
+    int again = n * 3;
    return twice + again == 12 ? 0 : 1;
}

static int crashing(int n) {
-    int divisor = n - 3;
-    int parts = 9;
+    int divisor = n - 2;
+    int parts = 9 / divisor;
    return parts == 9 && divisor == 0 ? 0 : 1;
}

static int elsewhere(int n) {
-    int limit = n - 1;
-    int parts = 2;
+    int limit = n - 2;
+    int parts = 1;
    if (limit != parts)
        return 0;
    return limit == 2 ? 0 : 1;
}

static int here, there;

static int address(int n) {
-    int *place = n > 2 ? &here : &there;
+    int *place = n > 3 ? &here : &there;
    return place == &here ? 0 : 1;
}

static int copied(int n) {
    struct pair made = {n, n, n};
-    made.second = 5;
+    made.second = 4;
    struct pair copy = made;
    return copy.second == 5 ? 0 : 1;
}

int main(int argc, char **argv) {
    int n = 2 + argc / 2;
    static const struct { const char *name; int (*run)(int); } all[] = {
        {"local", local}, {"field", field}, {"real", real}, {"result", result},
        {"library", library}, {"written", written}, {"condition", condition},
        {"instance", instance}, {"chosen", chosen}, {"missing", missing},
        {"not_enough", not_enough}, {"crashing", crashing}, {"elsewhere", elsewhere},
        {"address", address}, {"copied", copied},
    };
    for (unsigned at = 0; at < sizeof all / sizeof *all; at++)
        if (!strcmp(argv[1], all[at].name)) return all[at].run(n);
    return 99;
}
