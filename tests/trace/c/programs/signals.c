/* Handlers run inside the program: raise, an alarm during a busy loop, a handler that longjmps, masks. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static volatile sig_atomic_t seen, ticks;
static sigjmp_buf back;

static void count(int number) { seen = seen * 10 + (number == SIGUSR1 ? 1 : 2); }
static void tick(int number) { ticks += number == SIGVTALRM; }
static void escape(int number) { siglongjmp(back, number); }

int main(void) {
    signal(SIGUSR1, count);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = count;
    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR1);
    raise(SIGUSR2);
    signal(SIGVTALRM, tick);
    struct itimerval every = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_VIRTUAL, &every, NULL);
    unsigned long spun = 0, sum = 0;
    while (ticks < 2) sum += ++spun & 3;
    signal(SIGVTALRM, escape);
    volatile unsigned long endless = 0;
    if (!sigsetjmp(back, 1))
        for (;;) endless++;
    memset(&every, 0, sizeof every);
    setitimer(ITIMER_VIRTUAL, &every, NULL);
    signal(SIGSEGV, escape);
    int caught = sigsetjmp(back, 1);
    if (!caught) *(volatile int *)8 = 1;
    printf("%d %d %d\n", seen, ticks >= 2 && endless > 0 && sum >= spun / 2, caught == SIGSEGV);
    return seen;
}
