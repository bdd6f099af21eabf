/* Another object is chosen, which held the same at that time. */
#include <stdio.h>
#include <stdlib.h>

struct item {
    int weight;
};

int case_identity(void) {
+    char *noise = malloc(40);
+    free(noise);
    struct item *first = malloc(sizeof *first);
    struct item *second = malloc(sizeof *second);
    first->weight = 1;
    second->weight = 1;
-    struct item *chosen = first; // root
+    struct item *chosen = second; // root differs
    struct item *same = first;
    first->weight = 5;
    int shown = chosen->weight; // 1 was 5
-    int known = same->weight + 0;
+    int known = same->weight;
    printf("%d %d\n", shown, known); // differs
    return 0;
}
