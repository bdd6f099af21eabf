/* setjmp and longjmp out of recursion and loops, sigsetjmp, volatile locals across a jump. */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf home;
static int depth_reached;

static void dive(int depth) {
    depth_reached = depth;
    if (depth == 4) longjmp(home, depth + 10);
    dive(depth + 1);
    printf("never %d\n", depth);
}

static int guarded(int input) {
    volatile int attempts = 0;
    int code = setjmp(home);
    attempts++;
    if (code == 0) {
        if (input > 2) dive(input - 2);
        return -1;
    }
    return code * 100 + attempts;
}

int main(void) {
    sigjmp_buf again;
    volatile int rounds = 0;
    int sum = guarded(1) + guarded(3);
    int returned = sigsetjmp(again, 1);
    rounds++;
    if (returned < 3) siglongjmp(again, returned + 1);
    printf("%d %d %d %d\n", sum, depth_reached, rounds, returned);
    return guarded(2) + rounds + 1;
}
