// What was refused by an exception, and is taken now.
#include <cstdio>

extern "C" int case_not_refused(void);
extern "C" int case_not_refused_within(void);

struct refusal {
    int number;
};

static int checked(int n) {
-    if (n > 4) throw refusal{n};
    return n;
}

int case_not_refused(void) {
    try {
        std::printf("%d\n", checked(5));
    } catch (const refusal &found) {
        std::printf("refused %d\n", found.number);
    }
    return 0;
}

static int checked_by_sign(int n) {
    int doubled = n * 2;
-    if (n < 0) throw refusal{n};
    return doubled;
}

static int handed_on(int n) {
    int given = checked_by_sign(n);
    return given + 1;
}

int case_not_refused_within(void) {
    try {
        int given = handed_on(-5);
        std::puts("taken");
        return given > 0;
    } catch (const refusal &found) {
        std::printf("refused %d\n", found.number);
    }
    return 0;
}
