/* Statements that name nothing of what was changed: what is counted on from a new enumerator, a variable of a type that
   is another one now, a part that is compiled or not. */
#include "declared_far.h"
#include <stdio.h>

static const char *const words[] = {"red", "green", "blue", "none"};

int case_counted_on(void) {
    volatile int colour = GREEN;
    const char *word = words[colour];
    puts(word);
    return 0;
}

int case_another_width(void) {
    struct tally all = {0};
    all.many = 250;
    for (int i = 0; i < 10; i++)
        all.many++;
    printf("%d\n", (int)all.many);
    return 0;
}

int case_another_local_width(void) {
    short_t few = 120;
    for (int i = 0; i < 10; i++)
        few++;
    int shown = few;
    printf("%d\n", shown);
    return 0;
}

enum size { SMALL,
+    LARGE,
    HUGE };

int case_counted_on_at_the_end(void) {
    volatile int size = HUGE;
    int shown = size + 4;
    printf("%d\n", shown);
    return 0;
}

static int speed(void) {
#ifdef FAST
    return 1;
#else
    return 2;
#endif
}

int case_compiled_or_not(void) {
    int now = speed();
    printf("%d\n", now);
    return 0;
}
