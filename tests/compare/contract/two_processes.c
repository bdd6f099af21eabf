/* One process reads what another wrote; the second one is wrong. */
#include <stdio.h>
#include <string.h>

int case_two_processes(void) {
+    int noise = 1;
+    noise += 7;
-    for (int i = 1; i < 4; i++)
+    for (int i = 1; i <= 3; i++)
        printf("%d\n", i * 10);
    return 0;
}

int case_two_processes_reading(void) {
    int total = 0;
    int read = 0;
    while (scanf("%d", &read) == 1)
        total += read;
-    int shown = total / 2; // root
+    int shown = total / 3; // root 20 was 30
    printf("sum %d\n", shown); // differs
    return 0;
}
