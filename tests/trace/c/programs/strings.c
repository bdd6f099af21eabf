/* Strings built byte by byte and by the library, tokens, numbers out of text, wide loads over narrow stores. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char upper[64];

static void shout(const char *text) {
    char *to = upper;
    while ((*to++ = (char)toupper((unsigned char)*text++)))
        ;
}

static unsigned hash(const char *text) {
    unsigned h = 5381;
    for (; *text; text++) h = h * 33 ^ (unsigned char)*text;
    return h;
}

int main(int argc, char **argv) {
    char line[80] = "alpha=1;beta=22;gamma=-3", copy[80];
    strcpy(copy, line);
    int sum = 0;
    for (char *part = strtok(copy, ";"); part; part = strtok(NULL, ";")) {
        char *equals = strchr(part, '=');
        sum += atoi(equals + 1);
        sum += (int)strlen(part);
    }
    shout(line);
    char number[32];
    snprintf(number, sizeof number, "%05d|%-6s|%x", sum, "ab", 0xbeef);
    unsigned word;
    char bytes[4] = {1, 2, 3, 4};
    memcpy(&word, bytes, sizeof word);
    char *joined = malloc(strlen(upper) + strlen(number) + 1);
    sprintf(joined, "%s%s", upper, number);
    memmove(joined + 2, joined, 10);
    long value = strtol("0x1fz", &joined, 16);
    printf("%s %s %u %u %ld%s %d %s\n", upper, number, word, hash(line), value, joined, argc, argc > 1 ? argv[1] : "-");
    return (int)(hash(number) & 63);
}
