/* Variables of the C library that a function sets beside what it returns, and what it calls at the end. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int case_option_argument(void) {
    char *given[] = {"cases", "-n", "7", NULL};
-    const char *options = "n:v";
+    const char *options = "nv";
    getopt(3, given, options);
    printf("%d arguments\n", optarg != NULL);
    return 0;
}

int case_option_index(void) {
    char *given[] = {"cases", "-v", "-n", "7", NULL};
    optind = 1;
-    const char *options = "n:v";
+    const char *options = "nv";
    while (getopt(4, given, options) != -1) continue;
    printf("the first name is number %d\n", optind);
    return 0;
}

int case_error_number(void) {
    errno = 0;
-    const char *path = "/nonexistent/name";
+    const char *path = "/etc/passwd/name";
    fopen(path, "r");
    size_t length = strlen("name");
    printf("%s after %d\n", strerror(errno), length > 3);
    return 0;
}

static void say_last(void) { puts("last"); }

int case_given_for_the_end(void) {
-    atexit(say_last);
    puts("first");
    return 0;
}

static int end_limit = 120;

int case_given_and_guarded(void) {
-    atexit(say_last);
    puts("first");
    if (end_limit > 200) say_last();
    return 0;
}
