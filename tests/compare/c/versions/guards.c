/* A condition that stands as it stood, and guards something else: what was put between it and its statement, or a
   way out behind it that is no more. */
#include <stdio.h>

static int released;

static int checked(int kept, int ready) {
    if (kept) {
        if (ready == 0)
            /* it cannot be asked for */
+            if (released == 0)
+                released = 1;
            return 2;
    }
    return 0;
}

int case_unbraced(void) {
    volatile int ready = 1;
    printf("%d\n", checked(1, ready));
    return 0;
}

static int notes;

static int priced(int amount) {
    int price = 7;
    if (amount > 3) {
        notes++;
-        return price;
    }
    price = 9;
    return price;
}

int case_ended_early(void) {
    volatile int amount = 5;
    printf("%d\n", priced(amount));
    return 0;
}
