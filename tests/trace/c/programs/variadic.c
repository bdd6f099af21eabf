/* Own variable arguments: integers, doubles, structs, va_copy, passed on to vprintf and vsnprintf. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct pair { int left, right; };

static int sum(int count, ...) {
    va_list given, again;
    va_start(given, count);
    va_copy(again, given);
    int total = 0;
    for (int i = 0; i < count; i++) total += va_arg(given, int);
    total += va_arg(again, int) * 1000;
    va_end(again);
    va_end(given);
    return total;
}

static double mixed(const char *kinds, ...) {
    double total = 0;
    va_list given;
    va_start(given, kinds);
    for (; *kinds; kinds++) {
        if (*kinds == 'i') total += va_arg(given, int);
        else if (*kinds == 'd') total += va_arg(given, double);
        else if (*kinds == 's') total += (double)strlen(va_arg(given, const char *));
        else {
            struct pair p = va_arg(given, struct pair);
            total += p.left - p.right;
        }
    }
    va_end(given);
    return total;
}

static void report(const char *format, ...) {
    char text[64];
    va_list given;
    va_start(given, format);
    vsnprintf(text, sizeof text, format, given);
    va_end(given);
    printf("[%s]", text);
    va_start(given, format);
    vprintf(format, given);
    va_end(given);
}

int main(void) {
    struct pair p = {9, 4};
    printf("%d %.2f\n", sum(3, 10, 20, 30), mixed("idspiiiiiiddd", 1, 2.5, "four", p, 1, 2, 3, 4, 5, 6, .5, .25, .125));
    report("%d-%s-%c %5.1f%%\n", 42, "text", 'x', 99.5);
    return sum(2, 3, 4) & 127;
}
