#define _GNU_SOURCE
#include "cases.h"
#include <err.h>
#include <error.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <syslog.h>

int case_error(void) {
    int given = 4;
-    given += 1;
+    given += 2;
    error(0, 0, "the number is %d", given);
    return 0;
}

int case_error_ends(void) {
    int given = 4;
-    int limit = 5;
+    int limit = 3;
    puts("begin");
    if (given > limit) error(7, ENOENT, "%d is over the limit", given);
    return 0;
}

int case_error_at(void) {
-    unsigned line = 12;
+    unsigned line = 13;
    error_at_line(0, 0, "input", line, "cannot read");
    return 0;
}

int case_warned(void) {
    int given = 3;
-    int wanted = 3;
+    int wanted = 4;
    if (given != wanted) warnx("%d is not %d", given, wanted);
    return 0;
}

int case_erred(void) {
    errno = ENOENT;
-    const char *name = "left";
+    const char *name = "right";
    err(3, "cannot open %s", name);
}

static void complain(const char *format, ...) {
    va_list given;
    va_start(given, format);
    vwarnx(format, given);
    va_end(given);
}

int case_complained(void) {
    long size = 40;
-    size /= 2;
+    size /= 4;
    complain("size %ld of %d", size, 9);
    return 0;
}

int case_logged(void) {
    int port = 80;
-    port += 1;
+    port += 2;
    openlog("cases", 0, LOG_USER);
    syslog(LOG_INFO, "listening on %d", port);
    return 0;
}

int case_gathered(void) {
    char first[] = "abc", second[] = "def\n";
-    second[1] = 'E';
+    second[1] = 'F';
    struct iovec parts[] = {{first, 3}, {second, 4}};
    return writev(1, parts, 2) != 7;
}

int case_to_descriptor(void) {
    int given = 4;
-    given *= 2;
+    given *= 3;
    dprintf(2, "now %d\n", given);
    return 0;
}

static void report_crash(int number) {
    char text[] = "crashed by signal ..\n";
    text[18] = (char)('0' + number / 10);
    text[19] = (char)('0' + number % 10);
    if (write(2, text, sizeof text - 1) < 0) _exit(3);
    _exit(2);
}

int case_own_handler(void) {
    int value = 7, *at = &value;
-    int size = 4;
+    int size = 0;
    signal(SIGSEGV, report_crash);
    if (!size) at = NULL;
    *at = 8;
    return value != 8;
}

static int broken;

static void check(int n, int most) {
    if (n > most) broken |= 4;
}

static int finish(void) { return broken ? 1 : 0; }

int case_status_far(void) {
-    int most = 9;
+    int most = 5;
    for (int n = 0; n < 8; n++) check(n, most);
    puts("checked");
    return finish();
}

int case_left_loop(void) {
    char text[] = "a,b;c";
-    char stop = 0;
+    char stop = ',';
    for (char *at = text; *at; at++) {
        if (*at == stop) break;
        putchar(*at);
    }
    putchar('!');
    putchar('\n');
    return 0;
}

int case_not_written(void) {
    char text[] = "one two three";
-    int mark = 1;
+    int mark = 0;
    for (char *at = text; *at; at++) {
        if (*at == 't' && mark) putchar('<');
        putchar(*at);
    }
    putchar('\n');
    return 0;
}

int case_line_not_written(void) {
    const char *names[] = {"first", "second", "third"};
-    int least = 1;
+    int least = 7;
    for (int n = 0; n < 3; n++) {
        if (n == 1 && n < least) continue;
        puts(names[n]);
        if (n == 2) puts("last");
    }
    return 0;
}

int case_opened(void) {
-    int flags = O_RDONLY;
+    int flags = O_RDWR | O_CREAT | O_EXCL;
    int file = open("/dev/null", flags, 0600);
    puts(file < 0 ? "cannot open" : "open");
    return 0;
}

int case_examined(void) {
    struct stat found;
    char path[] = "/dev/null";
-    path[5] = 'n';
+    path[6] = 'x';
    puts(stat(path, &found) ? "none" : "there");
    return 0;
}

int case_converted(void) {
    char text[] = "0x12";
-    int base = 16;
+    int base = 10;
    long value = strtol(text, NULL, base);
    printf("%ld\n", value);
    return 0;
}

int case_environment(void) {
    char name[] = "PATH";
-    name[3] = 'H';
+    name[3] = 'h';
    puts(getenv(name) ? "set" : "not set");
    return 0;
}

int case_read_less(void) {
    char text[16] = "";
    int ends[2];
-    size_t most = 4;
+    size_t most = 2;
    if (pipe(ends) || write(ends[1], "abcdef", 6) != 6) return 9;
    ssize_t got = read(ends[0], text, most);
    printf("%zd %s\n", got, text);
    return 0;
}

static int doubled(int n) { return 2 * n; }
static int halved(int n) { return n / 2; }
static int squared(int n) { return n * n; }

static const struct command {
    const char *name;
    int (*does)(int);
} commands[] = {
    {"double", doubled},
-    {"half", halved},
+    {"half", squared},
    {"square", squared},
};

int case_table_of_functions(void) {
    for (size_t n = 0; n < sizeof commands / sizeof *commands; n++)
        if (!strcmp(commands[n].name, "half")) printf("%d\n", commands[n].does(8));
    return 0;
}

/* A process id differs between any two runs. */
int case_unsteady(void) {
    int value = 4;
-    value += 1;
+    value += 2;
    printf("process %d begins\n", (int)getpid());
    printf("process %d: %d\n", (int)getpid(), value);
    return 0;
}

/* As shells and servers do at their start: whatever is open and not theirs is closed, and a descriptor of
 * their own takes its place. */
int case_closes_all(void) {
    char text[] = "prompt\n";
    for (int fd = 3; fd < 64; fd++) close(fd);
    int own = dup2(1, 5);
-    text[0] = 'P';
+    text[0] = 'Q';
    return write(own, text, 7) != 7;
}

/* As a file system is made: with an identity of its own, in a large file, and nobody prints it. */
int case_image(void) {
    unsigned char block[32] = "IMG";
    unsigned features = 7;
    int file = memfd_create("image", 0);
    if (getrandom(block + 4, 8, 0) != 8) return 9;
-    features &= ~4u;
    block[16] = (unsigned char)features;
    puts("made");
    return pwrite64(file, block, sizeof block, 4096) != sizeof block;
}

int case_image_in_parts(void) {
    unsigned char head[8] = "IMG", tail[8] = {0};
-    head[5] = 1;
+    head[5] = 2;
    struct iovec parts[] = {{head, sizeof head}, {tail, sizeof tail}};
    return pwritev64(memfd_create("image", 0), parts, 2, 64) != sizeof head + sizeof tail;
}

struct header {
    char magic[4];
    unsigned flags, size;
};

/* Two programs of one test: what the one made of a file is what the other says of it. */
int case_making(void) {
    struct header header = {"IMG", 5, 12};
    char body[40] = "body";
    int file = open("handed.bin", O_RDWR | O_CREAT | O_TRUNC, 0600);
-    if (pwrite(file, body, 30, 64) != 30) return 9;
+    if (pwrite(file, body, 16, 64) != 16 || pwrite(file, body, 14, 80) != 14) return 9;
-    header.flags &= ~4u;
    if (pwrite(file, &header, sizeof header, 0) != sizeof header) return 9;
    return pread64(file, body, 12, 0) != 12 || pwrite(file, body, 12, 0) != 12; /* as if with a checksum */
}

int case_reading(void) {
    struct header header;
    int file = open("handed.bin", O_RDONLY);
    if (pread64(file, &header, sizeof header, 0) != sizeof header) return 9;
    puts(header.flags & 4 ? "can do it" : "plain");
    return 0;
}

int case_making_text(void) {
    FILE *file = fopen("handed.txt", "w");
    int level = 4;
-    level += 1;
+    level += 2;
    fprintf(file, "level %d\n", level);
    return fclose(file);
}

int case_reading_text(void) {
    FILE *file = fopen("handed.txt", "r");
    int c, level = 0;
    while ((c = getc(file)) != EOF)
        if (c >= '0' && c <= '9') level = c - '0';
    printf("at level %d\n", level);
    return fclose(file);
}
