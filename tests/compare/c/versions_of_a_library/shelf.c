#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A library: what is wrong with it is seen by whoever loads it. */

int area(int width, int height) {
-    return width * height;
+    return width + height;
}

static char line[32];

const char *label(int number) {
    int at = 0;
    line[at++] = '<';
-    for (int n = 0; n < number; n++) line[at++] = 'a' + n;
+    for (int n = 1; n < number; n++) line[at++] = 'a' + n;
    line[at++] = '>';
    line[at] = 0;
    return line;
}

const char *truth(int number) {
-    return number > 2 ? "true" : "false";
+    return number > 3 ? "true" : "false";
}

double half(double of) {
-    return of / 2;
+    return of / 4;
}

void *search(int key) {
    static int found[4];
-    if (key >= 3) return NULL;
+    if (key > 3) return NULL;
    return &found[key];
}

struct shelf {
    int *books;
    int number;
};

struct shelf *shelf_new(void) {
-    struct shelf *made = calloc(1, sizeof *made);
-    made->books = malloc(4 * sizeof(int));
+    struct shelf *made = calloc(2, sizeof *made);
+    made->books = malloc(8 * sizeof(int));
    return made;
}

void shelf_put(struct shelf *on, int book) {
-    on->books[on->number++] = book;
+    on->books[on->number] = book;
+    if (book != 7) on->number++;
}

int shelf_total(const struct shelf *on) {
    int total = 0;
    for (int n = 0; n < on->number; n++) total += on->books[n];
    return total;
}

void split(int number, int *tens, int *ones) {
-    *tens = number / 10;
+    *tens = number / 100;
    *ones = number % 10;
}

void *reader(int size) {
-    return fmemopen(NULL, size, "w+");
+    return fmemopen(NULL, size + 1, "w+");
}

int is_known(int number) {
-    return number != 5;
+    return number == 5;
}

int version(void) {
-    return 1;
+    return 2;
}
