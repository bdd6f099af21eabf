/* To this module the functions of library_own.c are declarations, as the C library's are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int library_calls(void);

int main(int argc, char **argv) {
    char text[64], copied[64];
    int length = snprintf(text, sizeof text, "%s %d", "seven is", 7);
    memset(copied, 0, sizeof copied);
    memcpy(copied, text, strlen(text));
    printf("%d bytes: %s\n", length, copied);
    puts(strchr(copied, 'i'));
    for (unsigned long long n = 0; n < strtoull("2000", NULL, 10); n++) copied[n % 3] = (char)('a' + n % 26);
    printf("%s after %d calls\n", copied, library_calls());
    return argc;
}
