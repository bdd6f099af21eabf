/* switch with fall-through, do/while, goto, computed goto, && || ?:, comma, nested loops. */
#include <stdio.h>

static int kind(int c) {
    int score = 0;
    switch (c) {
    case 1: score += 1; /* falls through */
    case 2: score += 2; break;
    case 3 ... 9: score = c * 10; break;
    case -4: return -40;
    default: score = c > 100 && c < 200 ? 5 : 6;
    }
    return score;
}

static int interpret(const unsigned char *code) {
    static void *const labels[] = {&&stop, &&add, &&twice, &&skip};
    int value = 0;
    goto *labels[*code++];
add:
    value += *code++;
    goto *labels[*code++];
twice:
    value *= 2;
    goto *labels[*code++];
skip:
    code++;
    goto *labels[*code++];
stop:
    return value;
}

int main(void) {
    int sum = 0, i = 0, tries = 0;
    for (int c = -5; c < 160; c += 7) sum += kind(c);
    do {
        i++;
        if (i == 3) continue;
        if (i > 6) break;
        tries += i;
    } while (i < 10);
    while (i--)
        for (int j = 0; j < i; j++) {
            if ((i & j) == 2 || (j == 3 && i != 5)) goto out;
            tries += j ? (i > j, j) : 1;
        }
out:;
    const unsigned char code[] = {1, 5, 2, 3, 9, 1, 1, 2, 0};
    int computed = interpret(code);
    int a = sum > 10 || tries == 0, b = !(a && computed), x = a ? b ? 1 : 2 : 3;
    printf("%d %d %d %d %d %d\n", sum, tries, computed, a, b, x);
    return x;
}
