/* Uses the library, linked statically, shared, or from an archive. */
#include "library_part.h"
#include <stdio.h>

static int scaled(int value, void *context) { return value * *(int *)context + library_get(); }

int main(void) {
    int factor = 3, first = library_get();
    library_public++;
    library_set(4);
    printf("%d %d %d\n", first, library_get(), library_each(1, 4, scaled, &factor));
    return library_get() - first;
}
