/* The run-time part of counted builds: the counters of every module are pages of one shared file a
 * process, mapped over the module's own array. What was counted is in the file however the process
 * ends, SIGKILL included, and a counter is as quick as a global variable.
 *
 * AFTERD_COUNTS names a directory; without it nothing is done. A file there begins with struct head
 * (one page); module arrays follow at the places that afterd-cc gave them in the build.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../trace/c/weave/freestanding.h"

enum { PAGE = 4096, NAME = 4096 };

/* afterd/spectra/c/counts.py reads it. */
struct head {
    uint64_t magic;
    uint64_t signal; /* that the process died of, as far as it could tell */
    uint64_t ended;  /* 1: by exit or return from main */
    uint64_t output; /* bytes in the test's captured output when the process began */
    uint64_t pid;
};
static const uint64_t MAGIC = 0x53544e554f434641; /* "AFCOUNTS" */

/* Beside a module's counters (weave.py). */
struct module {
    char *counters;
    uint64_t bytes, offset;
    struct module *next;
};

static struct module *modules;
static struct head none, *head = &none;
static int file = -1;
static const char *directory;
static struct sigaction previous[65];
static char alternate_stack[65536];

static int may_grow(uint64_t size) {
    struct rlimit most;
    return getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur >= size; /* or SIGXFSZ */
}

/* How much the test has written: processes are told apart by the test that was under way. */
static uint64_t written(void) {
    char path[NAME];
    struct stat output;
    if (!path_of(path, sizeof path, directory, "output")) return 0;
    return stat(path, &output) == 0 ? (uint64_t)output.st_size : 0;
}

/* What the process was started as, beside its counts: standard input's file, the folder, the arguments. */
static void note_command(const char *counts) {
    char path[NAME], text[2 * NAME];
    struct text name = {path, path + sizeof path, 1};
    add(&name, counts);
    add(&name, ".command");
    if (!name.whole) return;
    int from = open_file("/proc/self/cmdline", O_RDONLY);
    int to = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
    ssize_t got = link_text("/proc/self/fd/0", text, NAME - 1);
    if (got < 0) got = 0;
    text[got++] = 0;
    ssize_t folder = link_text("/proc/self/cwd", text + got, NAME - 1);
    if (folder > 0) got += folder;
    text[got++] = 0;
    do
        if (to < 0 || write_file(to, text, (size_t)got) != got) break;
    while (from >= 0 && (got = read_file(from, text, sizeof text)) > 0);
    if (from >= 0) close_file(from);
    if (to >= 0) close_file(to);
}

static void open_counts(void) {
    char path[NAME];
    head = &none;
    file = -1;
    for (int n = 0; n < 1000 && file < 0; n++) { /* exec keeps the pid */
        struct text name = {path, path + sizeof path, 1};
        add(&name, directory);
        add(&name, "/");
        add_number(&name, (uint64_t)process_number(), 1);
        add(&name, ".");
        add_number(&name, (uint64_t)n, 1);
        add(&name, ".counts");
        if (!name.whole) return;
        file = open_file(path, O_RDWR | O_CREAT | O_EXCL);
        if (file < 0 && errno != EEXIST) return;
    }
    if (file < 0 || !may_grow(PAGE) || grow_file(file, PAGE)) return;
    void *at = map_bytes(NULL, PAGE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) return;
    head = at;
    head->output = written();
    head->pid = (uint64_t)process_number();
    head->magic = MAGIC;
    note_command(path);
}

/* Map a module's pages of the file over its counters; what they counted before is added. */
static void map(struct module *module, int anew) {
    uint64_t place = PAGE + module->offset, end = place + module->bytes;
    struct stat now;
    if (head == &none || sysconf(_SC_PAGESIZE) > PAGE || !may_grow(end) || fstat(file, &now)) return;
    if ((uint64_t)now.st_size < end && grow_file(file, end)) return;
    if (!anew)
        for (uint64_t at = 0; at < module->bytes; at += PAGE) {
            static const char zeros[PAGE];
            char *page = module->counters + at;
            if (!same_bytes(page, zeros, PAGE) &&
                syscall(SYS_pwrite64, file, page, PAGE, place + at) != PAGE)
                return;
        }
    map_bytes(module->counters, module->bytes, MAP_SHARED | MAP_FIXED, file, place);
}

static void on_signal(int number) {
    if (head != &none && head->pid == (uint64_t)process_number()) head->signal = (uint64_t)number;
    sigaction(number, &previous[number], NULL);
    raise(number);
}

static void after_fork(void) {
    if (!directory) return;
    if (file >= 0) close_file(file);
    open_counts();
    for (struct module *module = modules; module; module = module->next) {
        /* the child's counts are its own from here on, also if there is no file for them */
        map_bytes(module->counters, module->bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        map(module, 1);
    }
}

__attribute__((constructor(101))) static void start(void) {
    int saved = errno;
    static char kept[NAME];
    const char *named = variable("AFTERD_COUNTS");
    struct text name = {kept, kept + sizeof kept, 1};
    if (named && *named) add(&name, named);
    if (*kept && name.whole) {
        directory = kept;
        open_counts();
        pthread_atfork(NULL, NULL, after_fork);
        stack_t stack = {.ss_sp = alternate_stack, .ss_size = sizeof alternate_stack};
        sigaltstack(&stack, NULL);
        static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
        for (unsigned i = 0; i < sizeof fatal / sizeof *fatal; i++) {
            struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
            sigaction(fatal[i], &action, &previous[fatal[i]]);
        }
    }
    errno = saved;
}

__attribute__((destructor(101))) static void finish(void) {
    if (head != &none && head->pid == (uint64_t)process_number()) head->ended = 1;
}

/* Called by a module's constructor and destructor: when it is loaded, and when it goes. */
void __afterd_arrives(struct module *module) {
    int saved = errno;
    module->next = modules;
    modules = module;
    map(module, 0);
    errno = saved;
}

void __afterd_leaves(struct module *module) {
    for (struct module **at = &modules; *at; at = &(*at)->next)
        if (*at == module) {
            *at = module->next;
            return;
        }
}
