enum colour {
    RED,
+    ORANGE,
    GREEN,
    BLUE
};

-typedef unsigned short many_t;
+typedef unsigned char many_t;

struct tally {
    many_t many;
};

-typedef short short_t;
+typedef signed char short_t;

+#define FAST 1
