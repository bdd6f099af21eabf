#include "cases.h"

int case_number(void) {
    int width = 6, height = 7;
-    int area = width * height;
+    int area = width + height;
    printf("%d x %d = %d!\n", width, height, area);
    return 0;
}

int case_shown(void) {
    FILE *notes = fopen("/dev/null", "w");
-    int version = 1;
+    int version = 2;
    int apples = 5;
-    int eaten = 2;
+    int eaten = 3;
    for (int copy = 0; copy < 300; copy++) fprintf(notes, "written by version %d\n", version);
    fclose(notes);
    printf("%d apples left\n", apples - eaten);
    return 0;
}

int case_text(void) {
    char word[16];
    strcpy(word, "green");
-    word[2] = 'e';
+    word[2] = 'a';
    printf("the word is <%s> now\n", word);
    return 0;
}

int case_constant_text(void) {
    int kind = 2;
-    const char *name = kind == 2 ? "two" : "many";
+    const char *name = kind == 3 ? "two" : "many";
    printf("name: %s\n", name);
    return 0;
}

int case_bytes(void) {
    char block[4] = {'a', 'b', 'c', '\n'};
-    block[1]++;
+    block[1] += 2;
    fwrite(block, 1, sizeof block, stdout);
    return 0;
}

struct page {
    char data[40];
    size_t size;
};

static void append(struct page *page, const char *text, size_t size) {
    memcpy(page->data + page->size, text, size);
    page->size += size;
}

int case_copied_further(void) {
    struct page page = {"", 0};
    char link[] = "a.html)";
-    size_t end = 6;
+    size_t end = 7;
    append(&page, "<a href=", 8);
    append(&page, link, end);
    append(&page, ">\n", 2);
    fwrite(page.data, 1, page.size, stdout);
    return 0;
}

int case_line(void) {
    char line[] = "a line";
-    line[5] = 'E';
+    line[5] = 'F';
    puts(line);
    return 0;
}

int case_character(void) {
    int c = 'x';
-    c += 1;
+    c += 2;
    putchar(c);
    putchar('\n');
    return 0;
}

int case_descriptor(void) {
    char text[] = "direct\n";
-    text[0] = 'D';
+    text[0] = 'C';
    return write(1, text, 7) != 7;
}

static void report(const char *format, ...) {
    va_list given;
    va_start(given, format);
    vprintf(format, given);
    va_end(given);
}

int case_wrapped(void) {
    int first = 10;
-    long second = first * 4;
+    long second = first * 5;
    report("%d then %ld (%s)\n", first, second, "done");
    return 0;
}

int case_missing(void) {
    int n = 3;
-    int limit = 2;
+    int limit = 3;
    puts("begin");
    if (n > limit) puts("more");
    puts("end");
    return 0;
}

int case_extra(void) {
-    int rounds = 2;
+    int rounds = 3;
    for (int i = 0; i < rounds; i++) puts("round");
    return 0;
}

int case_truncated(void) {
    puts("first");
-    int stop = 0;
+    int stop = 1;
    if (stop) return 0;
    puts("second");
    return 0;
}

int case_floating(void) {
    double rate = 0.5;
-    double total = 10 * rate;
+    double total = 10 / rate;
    printf("total %.2f\n", total);
    return 0;
}

int case_leaving(void) {
    int code = 3;
-    code -= 3;
+    code -= 1;
    exit(code);
}

static void bye(void) { puts("bye"); }

int case_handlers(void) {
    atexit(bye);
-    int code = 4;
+    int code = 6;
    if (code > 1) exit(code);
    return 0;
}

int case_returning(void) {
    int errors = 0;
-    if (errors > 0) errors = 9;
+    if (errors >= 0) errors = 9;
    return errors;
}

int case_producer(void) {
    for (int i = 1; i <= 3; i++)
-        printf("%d\n", i * 10);
+        printf("%d\n", i * 11);
    return 0;
}

int case_consumer(void) {
    int sum = 0, n;
    while (scanf("%d", &n) == 1) sum += n;
    printf("sum %d\n", sum);
    return 0;
}

int case_shortened(void) {
-    int shown = 9;
+    int shown = 0;
    printf("%s", "head:");
    printf("%.*s", shown, "body text");
    return 0;
}

int case_merged(void) {
    char line[16];
    int length = 0;
    for (int i = 0; i < 4; i++) line[length++] = 'a' + i;
-    line[length++] = 'z';
    line[length] = 0;
-    printf("text ");
-    printf("%s", line);
+    printf("text %s", line);
    return 0;
}

static char *lasting(size_t size) {
    char *block = malloc(size);
    memset(block, 0, size);
    return block;
}

int case_printed_again(void) {
    free(lasting(48));
    char *text = malloc(48), *copy = malloc(48);
-    int lines = 17;
+    int lines = 14;
    int length = snprintf(text, 48, "line %d", lines);
    memcpy(copy, text, (size_t)length);
    printf("error: %.*s\n", length, copy);
    return 0;
}

static void number(char *to, int value) {
    char digits[8];
    int length = snprintf(digits, 8, "%d", value);
    memcpy(to, digits, (size_t)length);
}

int case_printed_less(void) {
    char text[8] = ".......";
-    int lines = 10;
+    int lines = 1;
    number(text, lines);
    printf("%.4s\n", text);
    return 0;
}

static void put(char *to, const char *format, ...) {
    va_list given, again;
    va_start(given, format);
    va_copy(again, given);
    vsnprintf(to, 32, format, again);
    va_end(again);
    va_end(given);
}

int case_listed(void) {
    char text[32];
-    int unit = 3;
+    int unit = 4;
    put(text, "%s, line %d", "main", unit);
    puts(text);
    return 0;
}

int case_added(void) {
    puts("begin");
+    puts("noise");
    return 0;
}

/* What a message is made of is not why it is there. */
int case_complaint(void) {
-    char word[] = "many";
+    char word[] = "much";
-    int limit = 5;
+    int limit = 3;
    int given = 4;
    puts("begin");
    if (given > limit) {
        printf("too %s\n", word);
        return 1;
    }
    return 0;
}

static const char *truth_of(int truth) {
    return truth ? "true\n" : "false\n";
}

int case_named_text(void) {
    int most = 4;
-    int number = 3;
+    int number = 5;
    fputs(truth_of(number < most), stdout);
    return 0;
}

/* One condition in place of one of two parts, which all were false at first, and went another way. */
int case_parts(void) {
    int wanted = 0, other = 1;
    puts("begin");
-    if (wanted || other)
+    if ((wanted & other) == 1)
        puts("ending");
    return 0;
}

static const char *made_word(int n) {
    static char word[8] = "spell";
-    word[2] = n ? 'e' : '-';
+    word[2] = n ? 'i' : '-';
    return word;
}

int case_joined(void) {
    char line[20];
    strcpy(line, made_word(1));
    strcat(line, "!");
    puts(line);
    return 0;
}

int case_both_numbers(void) {
-    int rows = 3;
+    int rows = 4;
    int wide = 2;
-    int columns = 5;
+    int columns = 6;
    printf("%d by %d by %d\n", rows, wide, columns);
    return 0;
}
