/* Function pointers in tables and structs, callbacks from the library, pointers to pointers, lists, aliasing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node { struct node *next; int key; const char *text; };

static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int (*const table[])(int, int) = {add, sub};

struct operation { const char *name; int (*apply)(int, int); };
static struct operation operations[] = {{"plus", add}, {"minus", sub}};

static int compared;
static int by_key(const void *left, const void *right) {
    compared++;
    int a = *(const int *)left, b = *(const int *)right;
    return a < b ? -1 : a > b;
}

static void insert(struct node **list, int key, const char *text) {
    struct node **at = list;
    while (*at && (*at)->key < key) at = &(*at)->next;
    struct node *made = malloc(sizeof *made);
    made->key = key;
    made->text = text;
    made->next = *at;
    *at = made;
}

static void increment(int *one, int *other) {
    *one += 1;
    *other += 1;
}

static void released(void) { puts("released"); }

int main(void) {
    int numbers[] = {5, -3, 9, 0, 9, 2}, n = sizeof numbers / sizeof *numbers;
    qsort(numbers, n, sizeof *numbers, by_key);
    struct node *list = NULL;
    insert(&list, 5, "five");
    insert(&list, 2, "two");
    insert(&list, 9, "nine");
    insert(&list, 3, "three");
    increment(&numbers[0], &numbers[0]);
    for (struct node *at = list; at; at = at->next) printf("%d=%s ", at->key, at->text);
    printf("\n%d %d %d %d\n", table[0](7, 3), table[1](7, 3), operations[1].apply(1, 2), compared > 5);
    for (int i = 0; i < n; i++) printf("%d ", numbers[i]);
    int wanted = 9, *found = bsearch(&wanted, numbers, n, sizeof *numbers, by_key);
    printf("\n%d %s\n", found ? *found : -1, operations[numbers[0] + 1 == 0].name);
    while (list) {
        struct node *next = list->next;
        free(list);
        list = next;
    }
    atexit(released);
    return numbers[1];
}
