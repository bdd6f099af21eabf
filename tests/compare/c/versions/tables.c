#include "cases.h"

#define COLOURS(X)     \
    X(RED, "red", 4)   \
-    X(BLUE, "blue", 7) \
+    X(BLUE, "blue", 8) \
    X(GREEN, "green", 9)

enum colour {
#define COLOUR_NAME(name, text, weight) COLOUR_##name,
    COLOURS(COLOUR_NAME)
#undef COLOUR_NAME
    COLOUR_COUNT
};

static const struct { const char *text; signed char weight; } colours[COLOUR_COUNT] = {
#define COLOUR_ROW(name, text, weight) [COLOUR_##name] = {text, weight},
    COLOURS(COLOUR_ROW)
#undef COLOUR_ROW
};

int case_table_of_macros(void) {
    int weight = 0;
    for (int each = 0; each < COLOUR_COUNT; each++)
        if (colours[each].text[0] != 'g') weight += colours[each].weight;
    printf("%d\n", weight);
    return 0;
}

enum unit { METRE, INCH, MILE };

static const int lengths[] = {
    [METRE] = 1000,
-    [INCH] = 25,
+    [INCH] = 26,
    [MILE] = 1609344,
};

int case_table_by_enumerator(void) {
    enum unit asked[] = {METRE, INCH, INCH};
    int whole = 0;
    for (int i = 0; i < 3; i++) whole += lengths[asked[i]];
    printf("%d\n", whole);
    return 0;
}

static const int squares[][2] = {
    {1, 1},
-    {2, 4},
+    {2, 5},
    {3, 9},
};

int case_table_of_tables(void) {
    int area = 0;
    for (int side = 0; side < 3; side++) area += squares[side][1];
    printf("%d\n", area);
    return 0;
}

static const char *const words[] = {
    "one",
-    "two",
+    "tvo",
    "three",
};

int case_table_of_texts(void) {
    size_t count = 2;
    printf("%s\n", words[count - 1]);
    return 0;
}

-static const char letters[] = "abcdefgh";
+static const char letters[] = "abcdffgh";

int case_table_of_letters(void) {
    int code = 4;
    char letter = letters[code & 7];
    printf("%c\n", letter);
    return 0;
}

-static const int noon = 12;
+static const int noon = 13;
static const int dusk = 19;
static const int *const hours[] = {&noon, &dusk};

int case_table_of_pointers(void) {
    int at = 0;
    const int *hour = hours[at];
    printf("%d\n", *hour);
    return 0;
}

static int weekday_hours[7];

static void fill(void) {
    for (int day = 0; day < 5; day++) weekday_hours[day] = 8;
-    weekday_hours[4] = 6;
+    weekday_hours[4] = 5;
}

int case_table_that_is_filled(void) {
    int hours_of_week = 0;
    fill();
    for (int day = 0; day < 7; day++) hours_of_week += weekday_hours[day];
    printf("%d\n", hours_of_week);
    return 0;
}

static const struct entity {
    const char name[8];
-    int latin;
-    const char *plain;
    unsigned long code;
} entities[] = {
-    {"auml", 228, "a,", 0xe4},
+    {"auml", 0xe5},
-    {"comma", 44, ",", 0x2c},
+    {"comma", 0x2c},
-    {"ouml", 246, "o{", 0xf6},
+    {"ouml", 0xf6},
};

int case_table_of_another_type(void) {
    const struct entity *found =
        bsearch("auml", entities, 3, sizeof *entities, (int (*)(const void *, const void *))strcmp);
    printf("%lx\n", found->code);
    return 0;
}

static const struct mark { const char *text; int weight; } marks[] = {
-    {"a;", 3},  /* harmless, */
+    {"b;", 3},  /* harmless; */
    {"{", 4},
    {",", 5},
-    {"};", 6},
+    {"};", 7},
    {"(", 8},
-    {"[,", 9},
+    {"(,", 9},
};

int case_table_of_marks(void) {
    int at = 3;
    printf("%d\n", marks[at].weight);
    return 0;
}

enum key { NONE, LEFT, RIGHT, UP = 7, DOWN };

static const int keys[DOWN + 1] = {
-    [NONE] = 100,
+    [NONE] = 200,
    [DOWN] = 4,
-    [LEFT ... RIGHT] = 11,
+    [LEFT ... RIGHT] = 12,
    [UP] = 5,
-    [0x3] = 31,
+    [0x3] = 32,
};

int case_table_by_designators(void) {
    enum key pressed[] = {RIGHT, UP, DOWN};
    int sum = 0;
    for (int i = 0; i < 3; i++) sum += keys[pressed[i]];
    printf("%d\n", sum);
    return 0;
}

#define PLANETS(X)    \
-    X(MERCURY, 57)   \
+    X(MERCURY, 58)   \
    X(VENUS, 108)    \
-    X(EARTH, 150)    \
+    X(EARTH, 149)    \
    X(MARS, 228)

#define DISTANCE(name, distance) {#name, distance},
static const struct { const char *name; int distance; } planets[] = {PLANETS(DISTANCE)};
#undef DISTANCE

int case_table_of_a_list(void) {
    int sum = 0;
    for (int i = 1; i < 3; i++) sum += planets[i].distance;
    printf("%d\n", sum);
    return 0;
}

static const struct { int code; const char *text; } statuses[] = {
#define STATUS(code, text) {code, text},
#include "statuses.h"
#undef STATUS
};

int case_table_that_is_included(void) {
    size_t at = 2;
    printf("%d\n", statuses[at].code);
    return 0;
}

struct handler {
    const char *scheme;
    unsigned flags;
    struct { int port, family; } at;
};

static const struct handler handlers[] = {
    {
-        .scheme = "ftp",
+        .scheme = "FTP",
        .at = {
            .port = 21,
-            .family = 1,
+            .family = 2,
        },
    },
    {
        .scheme = "http",
-        .flags = 1,
+        .flags = 2,
        .at = {
-            .port = 80,
+            .port = 81,
            .family = 1,
        },
    },
};

int case_table_of_handlers(void) {
    const struct handler *chosen = &handlers[1];
    printf("%d\n", chosen->at.port + chosen->at.family);
    return 0;
}

static const char verbs[][8] = {
-    "push",
+    "qush",
    "take",
-    "pull",
+    "bull",
    "give",
-    "fetch",
+    "vetch",
};

int case_table_of_names(void) {
    int at = 2;
    int order = strcmp("pull", verbs[at]);
    printf("%d\n", order == 0);
    return 0;
}

static int counted(const char *text) {
    static const char *const numbers[] = {
-        "null",
        "one",
        "two",
    };
    for (int i = 0; i < 2; i++) if (!strcmp(text, numbers[i])) return i;
    return -1;
}

int case_table_that_moved(void) {
    printf("%d\n", counted("one"));
    return 0;
}

static const int months[] = {
#ifdef LEAP_YEARS
    366,
#endif
-    31,
+    32,
-    28,
+    29,
#if 0
    30,
#else
-    31,
+    33,
#endif
};

int case_table_of_conditions(void) {
    int month = 1;
    printf("%d\n", months[month]);
    return 0;
}

static const int turns[3][2] = {
-    0, 1,
+    9, 1,
-    1, 2,
+    1, 3,
-    2, 0,
+    2, 9,
};

int case_table_without_braces(void) {
    int from = 1, way = 1;
    printf("%d\n", turns[from][way]);
    return 0;
}

static int paid(int class) {
    const int fares[] = {
-        90,
+        91,
-        60,
+        61,
-        30,
+        31,
    };
    return fares[class];
}

int case_table_of_a_function(void) {
    printf("%d\n", paid(1));
    return 0;
}

enum tone { TONE_C, TONE_D, TONE_E };
#define TONE(tone, pitch) [TONE_##tone] = {#tone, pitch}
static const struct { const char *name; int pitch; } tones[] = {
-    TONE(E, 330),
+    TONE(E, 331),
-    TONE(C, 262),
+    TONE(C, 263),
-    TONE(D, 294),
+    TONE(D, 295),
};

int case_table_by_macros(void) {
    size_t second = 1;
    printf("%d\n", tones[second].pitch);
    return 0;
}

static const struct river { char name[8]; int length; } rivers[] = {
-    {"elbe", 1094},
+    {"elbe", 1095},
-    {"rhine", 1233},
+    {"rhone", 1233},
-    {"weser", 452},
+    {"weser", 453},
};

static int by_name(const void *name, const void *river) {
    return strcmp(name, ((const struct river *)river)->name);
}

int case_table_that_is_searched(void) {
    const struct river *found = bsearch("rhine", rivers, 3, sizeof *rivers, by_name);
    printf("%d\n", found == NULL);
    return 0;
}
