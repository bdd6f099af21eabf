/* fork without exec, a pipe between parent and child, exec of itself, wait, _exit in the child. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int shared = 1;

static int child(int to) {
    shared += 41;
    char text[16];
    int length = snprintf(text, sizeof text, "%d", shared);
    if (write(to, text, (size_t)length) != length) return 9;
    return 3;
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "again")) {
        printf("executed %s\n", argv[2]);
        return 7;
    }
    int ends[2], status = 0;
    if (pipe(ends)) return 1;
    fflush(stdout);
    pid_t forked = fork();
    if (forked == 0) _exit(child(ends[1]));
    close(ends[1]);
    waitpid(forked, &status, 0);
    char text[16] = "";
    ssize_t got = read(ends[0], text, sizeof text - 1);
    int value = got > 0 ? atoi(text) : -1;
    printf("%d %d %d\n", value, shared, WEXITSTATUS(status));
    fflush(stdout);
    pid_t started = fork();
    if (started == 0) {
        execl(argv[0], argv[0], "again", text, (char *)NULL);
        _exit(1);
    }
    waitpid(started, &status, 0);
    printf("%d\n", WEXITSTATUS(status));
    return value;
}
