#include <stdio.h>

-#define CHOSEN 1
+#define CHOSEN 2

/* A loop that runs since long before the window, in a function that was entered before. */
static int total;
static void nothing(int n) { (void)n; }
static void add(int n) { total += n; }
static void take(int n) { total -= n; }
static void show(int n) { printf("%d\n", total + n); }
static void (*const operations[])(int) = {nothing, add, take, show};
static unsigned char code[20000];

static void run(int length) {
    for (int at = 0; at < length; at++)
        operations[code[at]](4);
}

int case_interpreter(void) {
    code[19990] = CHOSEN;
    code[19999] = 3;
    run(5);
    run(20000);
    return 0;
}
