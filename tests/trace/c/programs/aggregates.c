/* Structs by value and through pointers, nested, with bit-fields and arrays; unions; returned structs. */
#include <stdio.h>
#include <string.h>

struct point { int x, y; };
struct large { long values[5]; char name[8]; };
struct flags { unsigned a : 3; signed b : 5; unsigned c : 12; unsigned long long d : 40; };
struct nested { struct point corner[2]; union { float f; unsigned bits; unsigned char bytes[4]; } shared; };
struct mixed { double d; int i; };

static struct point swapped(struct point p) {
    struct point q = {p.y, p.x};
    return q;
}

static struct large filled(int seed) {
    struct large made;
    for (int i = 0; i < 5; i++) made.values[i] = seed * i;
    strcpy(made.name, "large");
    return made;
}

static long total(struct large of) {
    long sum = 0;
    for (int i = 0; i < 5; i++) sum += of.values[i];
    of.values[0] = -1;
    return sum + of.name[0];
}

static struct mixed both(double d, int i) {
    struct mixed m;
    m.d = d * 2;
    m.i = i + 1;
    return m;
}

static double use(struct mixed m) { return m.d + m.i; }

int main(void) {
    struct point p = {3, 4}, *at = &p;
    struct point q = swapped(p);
    at->x += 10;
    struct large one = filled(7), two;
    two = one;
    two.values[1] = 1000;
    struct flags f = {5, -3, 99, 1ULL << 33};
    f.a += 1;
    f.b -= 2;
    f.c = f.c << 1;
    f.d |= 5;
    struct nested n;
    memset(&n, 0, sizeof n);
    n.corner[1] = q;
    n.corner[0].y = n.corner[1].x + 1;
    n.shared.f = 1.5f;
    n.shared.bytes[0] = 1;
    printf("%d %d %d %ld %ld\n", p.x, q.x, q.y, total(one), total(two));
    printf("%u %d %u %llu\n", f.a, f.b, f.c, (unsigned long long)f.d);
    printf("%d %d %u\n", n.corner[0].y, n.corner[1].y, n.shared.bits);
    printf("%g\n", use(both(1.25, 41)));
    return two.values[1] == 1000 ? f.a : 0;
}
