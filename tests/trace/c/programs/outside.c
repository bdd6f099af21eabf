/* A pointer that the C library set, and that thousands of its calls write through: which of them may have written
   the pointer itself is asked of each, the last first. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

static struct { char *text; size_t size; } line;

int main(void) {
    FILE *given = fopen("/proc/self/stat", "r");
    if (given == NULL || getline(&line.text, &line.size, given) < 0)
        return 1;
    for (int round = 0; round < 3000; round++)
        sprintf(line.text + round % 3, "%d", round);
    printf("%s\n", line.text);
    free(line.text);
    return fclose(given);
}
