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
