/* Part of a static and of a shared library: state behind functions, a hook back into the program. */
#include "library_part.h"

static int state = LIBRARY_START;
int library_public = 7;

void library_set(int value) { state = value * library_public; }
int library_get(void) { return state; }
int library_each(int from, int to, library_hook hook, void *context) {
    int sum = 0;
    for (int i = from; i < to; i++) sum += hook(i, context);
    return sum;
}
