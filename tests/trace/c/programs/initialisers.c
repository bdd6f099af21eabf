/* Globals of every kind with initialisers: tables, designators, strings, pointers, enums, zero, extern, const. */
#include <stdio.h>

enum color { RED = 3, GREEN, BLUE = GREEN * 2 };
struct entry { const char *name; int cost; enum color color; double weight; };

static const struct entry entries[] = {
    {"pen", 12, RED, 0.5},
    {"ink", 30, BLUE, 1.25},
    {.cost = 7, .name = "cap", .color = GREEN},
};
int limit = 40, zero, *where = &limit;
static unsigned char lookup[256] = {['a'] = 1, ['b'] = 2, ['z'] = 26};
static const char message[] = "global text", *pointer = message + 7;
static struct { short s; char c; long l; } packed[2] = {{-1, 'q', 1L << 40}, {5}};
static float ratio = 2.5f;
extern int limit;

int main(void) {
    double weight = 0;
    int cost = 0;
    for (unsigned i = 0; i < sizeof entries / sizeof *entries; i++) {
        if (entries[i].cost > limit) continue;
        cost += entries[i].cost * (int)entries[i].color;
        weight += entries[i].weight;
    }
    *where += zero + lookup['b'];
    zero = lookup['z'] + lookup['y'];
    printf("%d %.3f %d %d %s %c\n", cost, weight * ratio, limit, zero, pointer, message[0]);
    printf("%d %c %ld %d\n", packed[0].s, packed[0].c, packed[0].l, packed[1].s);
    return limit;
}
