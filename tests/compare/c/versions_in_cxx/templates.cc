#include <cstdio>

extern "C" int case_template(void);
extern "C" int case_parameter(void);
extern "C" int case_overload(void);

typedef const char *(*Matcher)(const char *);

template <char c> const char *exactly(const char *text) {
    return *text == c ? text + 1 : 0;
}

template <Matcher one> const char *optional(const char *text) {
    const char *after = one(text);
    return after ? after : text;
}

template <Matcher one> const char *unless(const char *text) {
    return one(text) ? 0 : text;
}

template <Matcher one, Matcher two> const char *sequence(const char *text) {
    const char *after = one(text);
    if (!after) return 0;
    return two(after);
}

static const char *word(const char *text) {
    return sequence<
        exactly<'a'>,
-        optional<exactly<'b'> >
+        sequence<optional<exactly<'b'> >, unless<exactly<'u'> > >
    >(text);
}

int case_template(void) {
    const char *end = word("au");
    puts(end ? "a word" : "none");
    return 0;
}

-static int scaled(int value) {
+static int scaled(int value, int times = 3) {
    int base = value + 1;
-    return base * 2;
+    return base * times;
}

int case_parameter(void) {
    int all = scaled(4);
    printf("%d\n", all);
    return 0;
}

static int kind(long value) {
    int none = 0;
    return value ? 1 : none;
}
+
+static int kind(int value) {
+    return value ? 2 : 0;
+}

int case_overload(void) {
    int found = kind(7);
    printf("kind %d\n", found);
    return 0;
}
