/* What clocks said, and what was made of it. */
#include <stdio.h>
#include <sys/time.h>
#include <time.h>

static long scaled_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

static long shortened(long spent) {
-    return spent / 1000;
+    return spent / 10;
}

static int given_count(int n) {
-    return n + 1;
+    return n + 2;
}

int case_clocked(void) {
    struct timeval day;
    long began = scaled_now(), ended, spent, scaled, halved, micro, count = given_count(4);
    char shown[40];
    gettimeofday(&day, NULL);
    micro = day.tv_sec * 1000000 + day.tv_usec;
    ended = scaled_now() + 1000000;
    spent = ended - began;
    scaled = shortened(spent);
    halved = scaled / 2;
    snprintf(shown, sizeof shown, "%ld", micro);
    printf("%ld%s\n", count + (halved < 1) + (spent < 0), shown[0] == 'x' ? shown : "");
    return 0;
}
