/* What real code does beside statements: aliases, ifunc, naked and weak functions, sections, constructors,
 * thread-local storage, asm goto, top-level assembly, K&R definitions, flexible and packed structs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static int constructed = 0;
__attribute__((constructor(150))) static void early(void) { constructed = constructed * 10 + 1; }
__attribute__((constructor)) static void later(void) { constructed = constructed * 10 + 2; }
__attribute__((destructor)) static void last(void) { printf("destroyed %d\n", constructed); }

int original(int x) { return x + 1; }
int renamed(int x) __attribute__((alias("original")));
__attribute__((weak)) int replaceable(int x) { return x * 2; }
extern int missing(int) __attribute__((weak));

__attribute__((annotate("noted"))) static int noted = 5;
__attribute__((section("afterd_test"), used)) static int elsewhere = 6;
static _Thread_local int mine = 7;

#if defined(__x86_64__) && defined(__linux__)
static int fast(int x) { return x + 100; }
static int (*choose(void))(int) { return fast; }
int chosen(int) __attribute__((ifunc("choose")));
__attribute__((naked)) int bare(int x) { __asm__("leal 3(%edi), %eax\n ret"); }
__asm__(".globl from_assembly\nfrom_assembly:\n leal (%edi,%edi), %eax\n ret\n");
int from_assembly(int x);
static int jumps(int x) {
    __asm__ goto("testl %0, %0; jz %l1" : : "r"(x) : "cc" : zero);
    return 1;
zero:
    return 2;
}
#else
static int chosen(int x) { return x + 100; }
static int bare(int x) { return x + 3; }
static int from_assembly(int x) { return x + x; }
static int jumps(int x) { return x ? 1 : 2; }
#endif

struct packed { char c; int i; short s; } __attribute__((packed));
struct flexible { int n; short values[]; };
struct empty { };

int old_style(a, b) int a; char b; { return a - b; }

static int takes(struct empty e, struct packed p, int (*through)(int)) {
    (void)e;
    return p.c + p.i + p.s + through(p.i);
}

static int many(int a, int b, int c, int d, int e, int f, int g, int h, double i, long double j) {
    return a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + h * 8 + (int)i + (int)j;
}

__attribute__((noinline)) static int tail(int n, int sum) {
    if (!n) return sum;
#if defined(__clang__)
    __attribute__((musttail))
#endif
    return tail(n - 1, sum + n);
}

int main(int argc, char **argv, char **environment) {
    struct packed p = {1, 2000, 3};
    struct empty e;
    struct flexible *f = malloc(sizeof *f + 3 * sizeof(short));
    f->n = 3;
    for (int i = 0; i < f->n; i++) f->values[i] = (short)(i * i);
    mine += elsewhere + noted;
    wchar_t wide[] = L"wide";
    int sum = renamed(1) + replaceable(2) + (missing ? missing(1) : 9) + chosen(1) + bare(4) + from_assembly(8);
    printf("%d %d %d %d\n", sum, jumps(argc - 1), jumps(argc), mine);
    printf("%d %d %d %d\n", old_style(9, 'a'), takes(e, p, original), f->values[2], (int)wcslen(wide));
    printf("%d %d %d\n", many(1, 2, 3, 4, 5, 6, 7, 8, 9.5, 10.5L), tail(1000, 0), environment[0] != NULL && argv[argc] == NULL);
    free(f);
    fputs("to standard error\n", stderr);
    return constructed;
}
