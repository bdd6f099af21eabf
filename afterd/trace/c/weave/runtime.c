/* The run-time part of afterd-cc: a ring of 16-byte records per process, block counters, and a log of
 * what the process wrote. It lives in the traced program, so it allocates nothing from the program's
 * heap, keeps errno, and does nothing at all unless AFTERD_TRACE names a directory, in its environment or
 * in that of a process above it.
 *
 * A record is two words (afterd/trace/c/window/records.py reads them):
 *   tag:4 | id:28 | depth:32, value    blocks, local stores, calls, returns
 *   tag:4 | size:12 | address:48, value    loads, stores, copies
 * From the last record to the limit and SLACK records further the ring is zero: a record without a second
 * word is one store, and the end is found even after SIGKILL. Code that records keeps its position in a
 * register (recording_ir.py); the thread's cursor is up to date only where that code called something.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <syslog.h>
#include <unistd.h>

#include "freestanding.h"

typedef uint64_t word;

/* A program's own function of the name is the one that is called; of what is woven as __afterd_NAME it is
 * the one that the program's module says (instrument.py). */
#define OURS __attribute__((weak))

/* The C library's own, by names that no program has for functions of its own. */
extern int __vsnprintf_chk(char *, size_t, int, size_t, const char *, va_list);
extern int __vfprintf_chk(FILE *, int, const char *, va_list);
extern int __vdprintf_chk(int, int, const char *, va_list);

/* In a shared library these are called in the place of the C library's by what is not traced, too: the
 * streams of C++ write with them. */
#ifdef AFTERD_SHARED
extern size_t _IO_fwrite(const void *, size_t, size_t, FILE *);
extern int _IO_putc(int, FILE *);
extern ssize_t __write(int, const void *, size_t);
#define REAL_FWRITE _IO_fwrite
#define REAL_PUTC _IO_putc
#define REAL_WRITE __write
#else
#define REAL_FWRITE fwrite
#define REAL_PUTC putc
#define REAL_WRITE write
#endif

enum {
    SCRAP_RECORDS = 4096,
    AHEAD = 1024, /* records that are made zero at once */
    SLACK = 256,  /* records that may be written between two looks at the limit: weaver.py, STRETCH */
    SMALLEST = 8 * AHEAD,
    PATH = 4096,
    OUTPUT_CAP = 64 << 20
};

/* Threads other than the first, and processes that are not traced, write into the scrap ring. */
static word scrap[2 * (SCRAP_RECORDS + SLACK)];
__thread struct {
    word *cursor, *limit;
    uint32_t depth;
} __afterd_thread = {scrap, scrap + 2 * SCRAP_RECORDS, 0}; /* recording_ir.py has the same */

/* Shared with the analysis through <trace>/<process>/head. */
struct head {
    word capacity;    /* records in the ring */
    word laps;        /* how often the ring was filled */
    word stopped;     /* records when a requested stop was reached, else 0 */
    word threads;     /* other threads seen */
    word ended;       /* 1 exit or return from main, 2 exec, 3 signal */
    word status;      /* exit status or signal number */
    word fault;       /* faulting address of the signal */
    word parent;      /* number of the parent process's directory + 1 (after fork), else 0 */
    word number;      /* number of this process's directory */
    word written;     /* bytes of the output log, which the file is longer than */
    word replaced;    /* 1: the value that was asked for was put in the place of another */
    word start;       /* records of the parent at the fork that made this process */
};

/* A re-execution may be asked for the last record that matches a pattern: AFTERD_WATCH holds
 * ``w:MASK:VALUE:BEFORE`` (first word of a record) or ``s:ADDRESS:SIZE:BEFORE`` (a write that overlaps),
 * several with commas. The two half rings around each match are kept in watch-N, and how many records have
 * matched since an activation last began at the call depth that VALUE carries. */
enum { WATCHES = 8, WATCH_HEADER = 4 };
struct watch {
    int kind;
    word mask, value, before;
    word *kept; /* 1 + position of the match, first position kept, records kept, the count, the records */
};
static struct watch watches[WATCHES];
static int watch_number;

/* One value may be asked to be another: AFTERD_REPLACE holds PROCESS:RECORD:SIZE:WAS:NOW:ADDRESS. Woven code
 * looks at each record of a value whether it is that one; what was put at ADDRESS (0: where woven code says),
 * and is WAS, is NOW from there on. */
static struct {
    word record, size, was, now;
    char *address;
} replacement;
static word *asked; /* the position behind that record in its lap, or NULL */

static struct head none, *head = &none;
static word *ring, *ring_end;
static word *aside;   /* SCRAP_RECORDS just below the ring, for handlers of asynchronous signals */
static word *resumed; /* the cursor when such a handler began */
static word scanned;  /* index in this lap up to which the watches have looked */
static word stop_record;
static int tracing = 0;
static char *output; /* mapped: programs close every descriptor that they did not open, or put others there */
static pthread_t first_thread;
static pid_t process;
static word reporting; /* the signal of a crash that a handler of the program's own is at work on, else 0 */
static word *counters;
static word counter_blocks;
static char directory[PATH];

/* What is asked for stands in <trace>/settings, a NAME=VALUE a line, and not in the environment: the
 * kernel puts the environment on the stack, and another question would be asked at other addresses. */
static char settings[16384];

static void read_settings(const char *trace) {
    char path[PATH];
    int file = -1;
    if (path_of(path, sizeof path, trace, "settings")) file = open_file(path, O_RDONLY);
    ssize_t n = file < 0 ? 0 : read_file(file, settings, sizeof settings - 1);
    settings[n > 0 ? n : 0] = 0;
    if (file >= 0) close_file(file);
}

static const char *setting(const char *name) {
    const char *value;
    for (const char *line = settings; line; line = next_of(line, '\n')) {
        line += *line == '\n';
        if ((value = behind(line, name)) && *value == '=') return value + 1;
    }
    return NULL;
}

static word number_from(const char *name, word otherwise) {
    const char *text = setting(name);
    return text ? number_in(text, NULL) : otherwise;
}

/* Everything is mapped far from where the kernel puts a program's own mappings, which would otherwise
 * be at addresses that depend on the size of the ring. */
static char *vacant = (char *)0x100000000000;

static void *claim(word bytes) {
    void *at = vacant;
    vacant += (bytes + (2 << 20)) & ~(word)((1 << 20) - 1);
    return at;
}

/* A file of the trace in memory, at a place of its own or over what is mapped ``over``. */
static void *map_file(const char *name, word bytes, void *over) {
    char path[PATH + 32];
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < bytes) return NULL; /* or SIGXFSZ */
    path_of(path, sizeof path, directory, name);
    int file = open_file(path, O_RDWR | O_CREAT);
    if (file < 0) return NULL;
    void *at = MAP_FAILED;
    if (grow_file(file, bytes) == 0)
        at = map_bytes(over ? over : claim(bytes), bytes, MAP_SHARED | (over ? MAP_FIXED : 0), file, 0);
    close_file(file);
    return at == MAP_FAILED ? NULL : at;
}

static void *map_scratch(word bytes, void *over) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (over ? MAP_FIXED : 0);
    void *at = map_bytes(over ? over : claim(bytes), bytes, flags, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* The ring, with the handlers' scrap below it: a cursor in the ring is above any limit in the scrap. */
static word *map_ring(word capacity) {
    word below = 2 * (SCRAP_RECORDS + SLACK) * sizeof(word), bytes = 2 * (capacity + SLACK + 2) * sizeof(word);
    char *reserved = map_scratch(below + bytes, NULL);
    if (!reserved || !map_file("ring", bytes, reserved + below)) return NULL;
    aside = (word *)reserved;
    return (word *)(reserved + below);
}

static void parse_watches(word capacity) {
    const char *text = setting("AFTERD_WATCH");
    watch_number = 0;
    while (text && *text && *text != '\n' && watch_number < WATCHES) {
        struct watch *watch = &watches[watch_number];
        const char *end;
        watch->kind = text[0];
        watch->mask = number_in(text + 2, &end);
        watch->value = number_in(end + 1, &end);
        watch->before = number_in(end + 1, &end);
        char name[] = "watch-0";
        name[sizeof name - 2] += (char)watch_number;
        watch->kept = map_file(name, (WATCH_HEADER + 2 * (capacity + 2 * AHEAD)) * sizeof(word), NULL);
        if (!watch->kept) return;
        watch_number++;
        text = *end == ',' ? end + 1 : NULL;
    }
}

/* What is to be replaced in this process, and in a ring of at least ``capacity`` records. The record is not
 * among those that may be written behind the end of a lap: where they are then is not where they belong. */
static word parse_replacement(word capacity) {
    const char *text = setting("AFTERD_REPLACE");
    const char *end;
    replacement.size = 0;
    if (!text || number_in(text, &end) != none.number) return capacity;
    replacement.record = number_in(end + 1, &end);
    replacement.size = number_in(end + 1, &end);
    replacement.was = number_in(end + 1, &end);
    replacement.now = number_in(end + 1, &end);
    replacement.address = (char *)(uintptr_t)number_in(end + 1, &end);
    while (replacement.record >= capacity && replacement.record % capacity < SLACK) capacity += AHEAD;
    return capacity;
}

static void write_command_line(void) {
    static char text[65536];
    char to[PATH + 32];
    path_of(to, sizeof to, directory, "cmdline");
    int in = open_file("/proc/self/cmdline", O_RDONLY), out = open_file(to, O_WRONLY | O_CREAT);
    ssize_t n = in < 0 ? -1 : read_file(in, text, sizeof text);
    if (out >= 0 && n > 0) write_file(out, text, (size_t)n);
    path_of(to, sizeof to, directory, "exe");
    ssize_t m = link_text("/proc/self/exe", text, sizeof text);
    int exe = open_file(to, O_WRONLY | O_CREAT);
    if (exe >= 0 && m > 0) write_file(exe, text, (size_t)m);
    if (in >= 0) close_file(in);
    if (out >= 0) close_file(out);
    if (exe >= 0) close_file(exe);
}

/* A process is a numbered directory; mkdir is the atomic counter. */
static int new_directory(const char *trace) {
    word limit = number_from("AFTERD_PROCESSES", 4096);
    for (word n = head->number; n < limit; n++) {
        struct text path = {directory, directory + sizeof directory, 1};
        add(&path, trace);
        add(&path, "/");
        add_number(&path, n, 6);
        if (!path.whole) return 0;
        if (syscall(SYS_mkdirat, AT_FDCWD, directory, 0700) == 0) {
            none.number = n;
            return 1;
        }
        if (errno != EEXIST) return 0;
    }
    return 0;
}

static int in_ring(const word *at) { return tracing && at >= ring && at <= ring_end + 2 * SLACK; }
static int in_aside(const word *at) { return tracing && at >= aside && at < ring; }

/* Make the next records zero, and say where to look again: there, at the end, or at a requested stop. */
static void make_room(void) {
    word at = (word)(__afterd_thread.cursor - ring) / 2, next = at + AHEAD, done = head->laps * head->capacity;
    if (next > head->capacity) next = head->capacity;
    if (stop_record && stop_record - done < next) next = stop_record - done;
    if (head->laps && next > at)
        clear_bytes(__afterd_thread.cursor, (next + SLACK + 1 - at) * 2 * sizeof(word));
    __afterd_thread.limit = ring + 2 * next;
}

static int overlaps(const word *record, word address, word size) {
    word tag = record[0] >> 60, to = record[0] & (((word)1 << 48) - 1), length;
    if (tag == 6) /* STORE */
        length = record[0] >> 48 & 0xfff;
    else if (tag == 7 || tag == 8) /* COPY, FILL */
        length = record[2] >> 60 == 9 ? record[2] & (((word)1 << 60) - 1) : 1;
    else
        return 0;
    return to < address + size && to + length > address;
}

/* Keep what was scanned now, and before it as much as is certainly still in the ring. */
static void keep(struct watch *watch, word match, word high) {
    word done = head->laps * head->capacity, earlier = head->capacity / 2 - 2 * (AHEAD + SLACK);
    if (earlier > done + scanned) earlier = done + scanned;
    word last_lap = earlier > scanned ? earlier - scanned : 0, low = scanned - (earlier - last_lap);
    word *to = watch->kept + WATCH_HEADER;
    watch->kept[0] = 1 + match;
    watch->kept[1] = done + scanned - earlier;
    watch->kept[2] = last_lap + high - low;
    copy_bytes(to, ring + 2 * (head->capacity - last_lap), last_lap * 2 * sizeof(word));
    copy_bytes(to + 2 * last_lap, ring + 2 * low, (high - low) * 2 * sizeof(word));
}

/* Look through the records since the last scan for what is watched. */
static void scan(void) {
    word high = (word)(__afterd_thread.cursor - ring) / 2, done = head->laps * head->capacity;
    for (int n = 0; n < watch_number; n++) {
        struct watch *watch = &watches[n];
        word match = ~(word)0;
        for (word at = scanned; at < high && done + at < watch->before; at++) {
            const word *record = ring + 2 * at;
            if (record[0] >> 60 == 15 /* ENTER */ && (unsigned)record[0] == (unsigned)watch->value)
                watch->kept[3] = 0;
            if (watch->kind == 'w' ? (record[0] & watch->mask) == watch->value
                                   : overlaps(record, watch->mask, watch->value))
                match = done + at, watch->kept[3]++;
        }
        if (match != ~(word)0) keep(watch, match, high);
    }
    scanned = high;
}

/* The ring is full: what was written past its end is where the next lap begins. */
static void next_lap(void) {
    word past = (word)(__afterd_thread.cursor - ring_end);
    if (watch_number) scan();
    copy_bytes(ring, ring_end, past * sizeof(word));
    clear_bytes(ring_end, 2 * (SLACK + 2) * sizeof(word));
    head->laps++;
    __afterd_thread.cursor = ring + past;
    scanned = past / 2;
}

/* How many blocks were numbered so far: a test that builds (make check) numbers more than the build did. */
static word numbered_blocks(void) {
    word known = number_from("AFTERD_BLOCKS", 0), now = 0;
    const char *listed = setting("AFTERD_NUMBERS");
    size_t length = 0;
    char text[PATH];
    while (listed && listed[length] && listed[length] != '\n') length++;
    if (!length || length >= sizeof text) return known;
    copy_bytes(text, listed, length);
    text[length] = 0;
    int file = open_file(text, O_RDONLY);
    if (file < 0) return known;
    if (syscall(SYS_flock, file, LOCK_SH) == 0) {
        ssize_t n = read_file(file, text, sizeof text - 1);
        text[n > 0 ? n : 0] = 0;
        now = text[0] == '[' ? number_in(text + 1, NULL) : 0;
    }
    close_file(file);
    return now > known ? now : known;
}

/* What a file of /proc has to say of a process; how many bytes. */
static size_t read_of(word number, const char *what, char *text, size_t size) {
    char path[64];
    struct text to = {path, path + sizeof path, 1};
    add(&to, "/proc/");
    add_number(&to, number, 1);
    add(&to, "/");
    add(&to, what);
    int file = open_file(path, O_RDONLY);
    size_t done = 0;
    for (ssize_t n = file < 0 ? 0 : 1; n > 0 && done < size - 1; done += n > 0 ? (size_t)n : 0)
        n = read_file(file, text + done, size - 1 - done);
    if (file >= 0) close_file(file);
    text[done] = 0;
    return done;
}

/* The directory of the trace, or NULL. A test may start its program with an environment of its own (env -i):
 * then the nearest process above it has the name. */
static const char *trace_directory(void) {
    static char text[1 << 17];
    static const char *found;
    const char *own = variable("AFTERD_TRACE");
    if (own || found) return own ? own : found;
    for (word number = (word)syscall(SYS_getppid), next; number > 1; number = next) {
        size_t length = read_of(number, "environ", text, sizeof text);
        for (char *at = text; at < text + length; at += length_of(at) + 1)
            if ((found = behind(at, "AFTERD_TRACE="))) return found;
        length = read_of(number, "stat", text, sizeof text);
        while (length && text[length - 1] != ')') length--; /* of the program's name; then a letter, and who started it */
        if (!length || length_of(text + length) < 3) break;
        next = number_in(text + length + 3, NULL);
    }
    return found = "";
}

static void begin(word parent, word start) {
    const char *trace = trace_directory();
    tracing = 0;
    if (!trace || !*trace) return;
    read_settings(trace);
    if (!parent) none.number = 0;
    if (!new_directory(trace)) return;
    word capacity = number_from("AFTERD_RING", 1 << 20);
    if (capacity < SMALLEST) capacity = SMALLEST;
    capacity = parse_replacement(capacity);
    struct head *shared = map_file("head", sizeof(struct head), NULL);
    word *records = map_ring(capacity);
    if (!counters) counter_blocks = numbered_blocks();
    word *counts = counter_blocks ? map_file("counts", counter_blocks * sizeof(word), counters) : NULL;
    if (!counters) counters = counts;
    if (!counters) counter_blocks = 0;
    if (!shared || !records) return;
    shared->capacity = capacity;
    shared->parent = parent;
    shared->number = none.number;
    shared->start = start;
    head = shared;
    ring = records;
    ring_end = records + 2 * capacity;
    asked = replacement.size ? ring + 2 * (replacement.record % capacity + 1) : NULL;
    parse_watches(capacity);
    stop_record = number_from("AFTERD_STOP_RECORD", 0);
    word only = number_from("AFTERD_STOP_PROCESS", ~(word)0);
    if (only != ~(word)0 && only != none.number) stop_record = watch_number = 0;
    output = map_file("output", OUTPUT_CAP, NULL);
    first_thread = pthread_self();
    process = process_number();
    tracing = 1;
    scanned = 0;
    resumed = NULL;
    __afterd_thread.cursor = ring;
    make_room();
    write_command_line();
}

static word records_now(void) {
    const word *at = in_aside(__afterd_thread.cursor) ? resumed : __afterd_thread.cursor;
    return in_ring(at) ? head->laps * head->capacity + (word)(at - ring) / 2 : head->stopped;
}

static void into_scrap(word *low) {
    __afterd_thread.cursor = low;
    __afterd_thread.limit = low + 2 * SCRAP_RECORDS;
}

/* What was asked for is recorded: the rest of the run goes to the scrap, counters included. */
static void stop_here(void) {
    int saved = errno;
    if (watch_number) scan();
    head->stopped = records_now();
    word bytes = counter_blocks * sizeof(word), *snapshot = bytes ? map_file("counts-stop", bytes, NULL) : NULL;
    if (snapshot) copy_bytes(snapshot, counters, bytes);
    if (number_from("AFTERD_STOP_ENDS", 0)) syscall(SYS_exit_group, 124); /* it would never end by itself */
    into_scrap(scrap);
    errno = saved;
}

/* A position reached the limit. Where to go on. */
word *__afterd_full(word *at) {
    if (!in_ring(at)) {
        if (tracing && !pthread_equal(first_thread, pthread_self())) head->threads = 1;
        into_scrap(in_aside(at) ? aside : scrap);
        return __afterd_thread.cursor;
    }
    __afterd_thread.cursor = at;
    if (stop_record && records_now() >= stop_record) {
        stop_here();
        return __afterd_thread.cursor;
    }
    if (watch_number && (word)(at - ring) / 2 - scanned >= head->capacity / 2) scan();
    if (at >= ring_end) next_lap();
    make_room();
    return __afterd_thread.cursor;
}

/* A function begins where something is recorded already: a handler has interrupted code whose position is
 * in a register, and which will write over anything put here. What the handler does is not recorded. The
 * code that it interrupted finds its position above the limit, and __afterd_full puts everything right. */
word *__afterd_interrupted(word *at) {
    if (!in_ring(at)) return at; /* threads share the scrap, which is never zero */
    resumed = at;
    into_scrap(aside);
    return __afterd_thread.cursor;
}

/* setjmp returned: with a value other than zero, its block begins again; out of an asynchronous handler,
 * recording goes on behind what the interrupted code had recorded. */
void __afterd_again(word *counter, word entered, word called, int value) {
    if (!value) return;
    if (in_aside(__afterd_thread.cursor) && pthread_equal(first_thread, pthread_self())) {
        if (reporting) head->ended = reporting = 0; /* the program lives on */
        for (__afterd_thread.cursor = resumed; *__afterd_thread.cursor; __afterd_thread.cursor += 2) continue;
        __afterd_thread.limit = ring;
    }
    *counter += 1;
    __afterd_thread.cursor[0] = entered;
    __afterd_thread.cursor[2] = called;
    __afterd_thread.cursor += 4;
}

/* The record that may be the one that is asked for was written, or is next: its value is at ``place``. No
 * function of the C library is called, which the program may have one of its own of. */
void __afterd_replace(char *place) {
    if (head->replaced || head->laps != replacement.record / head->capacity) return;
    char *at = replacement.address ? replacement.address : place;
    const char *was = (const char *)&replacement.was, *now = (const char *)&replacement.now;
    for (word n = 0; n < replacement.size; n++)
        if (((volatile char *)at)[n] != was[n]) return; /* it is another run than the one that was recorded */
    for (word n = 0; n < replacement.size; n++) ((volatile char *)at)[n] = now[n];
    head->replaced = 1;
}

/* Called by every module's constructor: its block counters, the addresses of its globals, and where it looks
 * for what is asked. */
void __afterd_register(word first, word blocks, word **counts, void *const *globals, word number,
                       word **looked_at) {
    *looked_at = asked;
    if (counters && first + blocks <= counter_blocks) *counts = counters + first;
    if (!tracing) return;
    int saved = errno;
    char path[PATH + 32];
    path_of(path, sizeof path, directory, "globals");
    int file = open_file(path, O_WRONLY | O_CREAT | O_APPEND);
    if (file >= 0) {
        word entry[2] = {first, number};
        struct iovec parts[2] = {{entry, sizeof entry}, {(void *)globals, number * sizeof(void *)}};
        ssize_t done = syscall(SYS_writev, file, parts, 2);
        (void)done;
        close_file(file);
    }
    errno = saved;
}

static void ended(word how, word status) {
    if (!tracing || process_number() != process) return; /* a child of vfork ends in its parent's memory */
    if (watch_number && !head->stopped && in_ring(__afterd_thread.cursor)) scan();
    if (!head->ended) {
        head->status = status;
        head->ended = how;
    }
}

static void after_fork(void) {
    if (!tracing) return;
    word start = records_now(), parent = head->number + 1, laps = head->number;
    if (output) unmap_bytes(output, OUTPUT_CAP);
    output = NULL;
    none.number = laps;
    head = &none;
    if (counters) map_scratch(counter_blocks * sizeof(word), counters); /* they were the parent's */
    begin(parent, start);
    if (!tracing) into_scrap(scrap);
}

static struct sigaction previous[65];

extern int __sigaction(int, const struct sigaction *, struct sigaction *);

static void on_signal(int number, siginfo_t *info, void *context) {
    (void)context;
    if (tracing && !head->ended) head->fault = (word)(uintptr_t)info->si_addr;
    while (in_ring(__afterd_thread.cursor) && *__afterd_thread.cursor) __afterd_thread.cursor += 2;
    ended(3, (word)number);
    __sigaction(number, &previous[number], NULL);
    raise(number);
}

static char alternate_stack[65536];
static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

static int is_fatal(int number) {
    for (unsigned i = 0; i < sizeof fatal / sizeof *fatal; i++)
        if (fatal[i] == number) return 1;
    return 0;
}

/* The program has a handler of its own: the crash is on record before it reports it. Where the handler
 * comes back, or jumps back (__afterd_again), it was none. */
static struct sigaction own[65];

static void on_own(int number, siginfo_t *info, void *context) {
    int first = tracing && !head->ended && pthread_equal(first_thread, pthread_self());
    if (first) {
        head->fault = (word)(uintptr_t)info->si_addr;
        head->status = reporting = (word)number;
        head->ended = 3;
    }
    if (own[number].sa_flags & SA_SIGINFO)
        own[number].sa_sigaction(number, info, context);
    else
        own[number].sa_handler(number);
    if (first) head->ended = reporting = 0;
}

OURS int sigaction(int number, const struct sigaction *wanted, struct sigaction *before) {
    if (!tracing || !is_fatal(number)) return __sigaction(number, wanted, before);
    struct sigaction old, ours, real;
    copy_bytes(&old, &own[number], sizeof old);
    if (wanted) {
        int handled = wanted->sa_handler != SIG_DFL && wanted->sa_handler != SIG_IGN;
        copy_bytes(&ours, wanted, sizeof ours);
        if (handled) {
            ours.sa_sigaction = on_own;
            ours.sa_flags |= SA_SIGINFO;
        } else if (wanted->sa_handler == SIG_DFL && !head->ended) {
            ours.sa_sigaction = on_signal;
            ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
        }
        if (__sigaction(number, &ours, &real) != 0) return -1;
        copy_bytes(&own[number], wanted, sizeof *wanted);
        clear_bytes(&previous[number], sizeof previous[number]);
    }
    if (before) copy_bytes(before, &old, sizeof old);
    return 0;
}
OURS void (*signal(int number, void (*handler)(int)))(int) {
    struct sigaction wanted = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;
    return sigaction(number, &wanted, &before) == 0 ? before.sa_handler : SIG_ERR;
}

__attribute__((constructor(101))) static void start(void) {
    int saved = errno;
    begin(0, 0);
    if (tracing) {
        pthread_atfork(NULL, NULL, after_fork);
        stack_t stack = {.ss_sp = alternate_stack, .ss_size = sizeof alternate_stack};
        sigaltstack(&stack, NULL);
        for (unsigned i = 0; i < sizeof fatal / sizeof *fatal; i++) {
            struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
            __sigaction(fatal[i], &action, &previous[fatal[i]]);
            copy_bytes(&own[fatal[i]], &previous[fatal[i]], sizeof *own);
        }
    }
    errno = saved;
}

__attribute__((destructor(101))) static void finish(void) { ended(1, 0); }

/* ---- what the process wrote: {records, fd, length} and the bytes ---- */

static void log_output(int fd, const void *bytes, size_t length) {
    word entry[3] = {records_now(), (word)fd, length};
    if (!tracing || !output || fd < 0 || length > OUTPUT_CAP - sizeof entry) return;
    if (head->written > OUTPUT_CAP - sizeof entry - length) return;
    if (!pthread_equal(first_thread, pthread_self())) return;
    copy_bytes(output + head->written, entry, sizeof entry);
    copy_bytes(output + head->written + sizeof entry, bytes, length);
    head->written += sizeof entry + length;
}

static void log_stream(FILE *stream, const void *bytes, size_t length) {
    log_output(stream ? fileno(stream) : -1, bytes, length);
}

static int formatted(FILE *stream, const char *format, va_list arguments) {
    if (!tracing) return __vfprintf_chk(stream, 0, format, arguments);
    char small[4096], *text = small;
    va_list again;
    va_copy(again, arguments);
    int length = __vsnprintf_chk(small, sizeof small, 0, sizeof small, format, arguments);
    if (length >= (int)sizeof small) {
        size_t bytes = (size_t)length + 1;
        text = map_bytes(NULL, bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (text == MAP_FAILED) {
            length = __vfprintf_chk(stream, 0, format, again);
            va_end(again);
            return length;
        }
        __vsnprintf_chk(text, bytes, 0, bytes, format, again);
    }
    va_end(again);
    if (length < 0) return length;
    log_stream(stream, text, (size_t)length);
    int result = REAL_FWRITE(text, 1, (size_t)length, stream) == (size_t)length ? length : -1;
    if (text != small) unmap_bytes(text, (size_t)length + 1);
    return result;
}

OURS int __afterd_vfprintf(FILE *stream, const char *format, va_list arguments) {
    return formatted(stream, format, arguments);
}
OURS int __afterd_vprintf(const char *format, va_list arguments) { return formatted(stdout, format, arguments); }
OURS int __afterd_printf(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int result = formatted(stdout, format, arguments);
    va_end(arguments);
    return result;
}
OURS int __afterd_fprintf(FILE *stream, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int result = formatted(stream, format, arguments);
    va_end(arguments);
    return result;
}
OURS int __afterd_puts(const char *text) {
    log_output(fileno(stdout), text, length_of(text));
    log_output(fileno(stdout), "\n", 1);
    return puts(text);
}
static int put_text(const char *text, FILE *stream) {
    log_stream(stream, text, length_of(text));
    return fputs(text, stream);
}
OURS int __afterd_fputs(const char *text, FILE *stream) { return put_text(text, stream); }
OURS int __afterd_fputs_unlocked(const char *text, FILE *stream) { return put_text(text, stream); }

static int put_byte(int byte, FILE *stream) {
    char one = (char)byte;
    log_stream(stream, &one, 1);
    return REAL_PUTC(byte, stream);
}
OURS int __afterd_fputc(int byte, FILE *stream) { return put_byte(byte, stream); }
OURS int __afterd_putc(int byte, FILE *stream) { return put_byte(byte, stream); }
OURS int __afterd__IO_putc(int byte, FILE *stream) { return put_byte(byte, stream); }
OURS int __afterd_putc_unlocked(int byte, FILE *stream) { return put_byte(byte, stream); }
OURS int __afterd_fputc_unlocked(int byte, FILE *stream) { return put_byte(byte, stream); }
OURS int __afterd_putchar(int byte) { return put_byte(byte, stdout); }
OURS int __afterd_putchar_unlocked(int byte) { return put_byte(byte, stdout); }

static size_t put_items(const void *from, size_t size, size_t count, FILE *stream) {
    log_stream(stream, from, size * count);
    return REAL_FWRITE(from, size, count, stream);
}
OURS size_t __afterd_fwrite(const void *from, size_t size, size_t count, FILE *stream) {
    return put_items(from, size, count, stream);
}
OURS size_t __afterd_fwrite_unlocked(const void *from, size_t size, size_t count, FILE *stream) {
    return put_items(from, size, count, stream);
}

/* What a system call says it took: the bytes may not be there to be read, and a rest is given once more. */
static ssize_t took(int fd, const void *from, ssize_t done) {
    if (done > 0) log_output(fd, from, (size_t)done);
    return done;
}

static ssize_t put_out(int fd, const void *from, size_t count) {
    return took(fd, from, REAL_WRITE(fd, from, count));
}
OURS ssize_t __afterd_write(int fd, const void *from, size_t count) { return put_out(fd, from, count); }
OURS void __afterd_perror(const char *text) {
    int saved = errno;
    if (text && *text) {
        log_output(2, text, length_of(text));
        log_output(2, ": ", 2);
    }
    const char *why = strerror(saved);
    log_output(2, why, length_of(why));
    log_output(2, "\n", 1);
    errno = saved;
    perror(text);
}

#ifdef AFTERD_SHARED
OURS size_t fwrite(const void *from, size_t size, size_t count, FILE *stream) {
    return put_items(from, size, count, stream);
}
#undef putc
OURS int putc(int byte, FILE *stream) { return put_byte(byte, stream); }
OURS ssize_t write(int fd, const void *from, size_t count) { return put_out(fd, from, count); }
#endif

OURS ssize_t __afterd_pwrite(int fd, const void *from, size_t count, off_t at) {
    return took(fd, from, pwrite(fd, from, count, at));
}
OURS ssize_t __afterd_pwrite64(int fd, const void *from, size_t count, off_t at) {
    return took(fd, from, pwrite64(fd, from, count, at));
}

static ssize_t took_parts(int fd, const struct iovec *parts, int number, ssize_t done) {
    ssize_t left = done;
    for (int n = 0; n < number && left > 0; left -= (ssize_t)parts[n++].iov_len)
        took(fd, parts[n].iov_base, left < (ssize_t)parts[n].iov_len ? left : (ssize_t)parts[n].iov_len);
    return done;
}

OURS ssize_t __afterd_writev(int fd, const struct iovec *parts, int number) {
    return took_parts(fd, parts, number, syscall(SYS_writev, fd, parts, number));
}
OURS ssize_t __afterd_pwritev(int fd, const struct iovec *parts, int number, off_t at) {
    return took_parts(fd, parts, number, pwritev(fd, parts, number, at));
}
OURS ssize_t __afterd_pwritev64(int fd, const struct iovec *parts, int number, off_t at) {
    return took_parts(fd, parts, number, pwritev64(fd, parts, number, at));
}
static int formatted_to(int fd, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    char text[4096];
    int length = __vsnprintf_chk(text, sizeof text, 0, sizeof text, format, again);
    va_end(again);
    if (length > 0) log_output(fd, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
    return __vdprintf_chk(fd, 0, format, arguments);
}
OURS int __afterd_vdprintf(int fd, const char *format, va_list arguments) {
    return formatted_to(fd, format, arguments);
}
OURS int __afterd_dprintf(int fd, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int result = formatted_to(fd, format, arguments);
    va_end(arguments);
    return result;
}

/* ---- messages of error, err, warn and syslog ----
 *
 * They are written here as the C library writes them, the message by itself. Programs often have functions
 * of these names, with other parameters: those are called instead, as they would be of the C library's. */

static void put(const char *text) {
    log_output(2, text, length_of(text));
    REAL_FWRITE(text, 1, length_of(text), stderr); /* fputs would be made a call of our own fwrite */
}

static void say(const char *prefix, const char *format, va_list arguments, int number) {
    fflush(stdout);
    put(prefix);
    put(": ");
    if (format) formatted(stderr, format, arguments);
    if (number >= 0) {
        put(format ? ": " : "");
        put(strerror(number));
    }
    put("\n");
}

static _Noreturn void leave(int status) {
    ended(1, (word)(unsigned)status);
    exit(status);
}

OURS void error(int status, int number, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(program_invocation_name, format, arguments, number ? number : -1);
    va_end(arguments);
    error_message_count++;
    if (status) leave(status);
}
OURS void error_at_line(int status, int number, const char *file, unsigned line, const char *format, ...) {
    static const char *last_file;
    static unsigned last_line;
    char prefix[PATH];
    if (error_one_per_line && last_file && last_line == line && same_text(last_file, file)) return;
    last_file = file;
    last_line = line;
    struct text to = {prefix, prefix + sizeof prefix, 1};
    add(&to, program_invocation_name);
    add(&to, ":");
    add(&to, file);
    add(&to, ":");
    add_number(&to, line, 1);
    va_list arguments;
    va_start(arguments, format);
    say(prefix, format, arguments, number ? number : -1);
    va_end(arguments);
    error_message_count++;
    if (status) leave(status);
}
OURS void vwarn(const char *format, va_list given) { say(program_invocation_short_name, format, given, errno); }
OURS void vwarnx(const char *format, va_list given) { say(program_invocation_short_name, format, given, -1); }
OURS void verr(int status, const char *format, va_list given) {
    vwarn(format, given);
    leave(status);
}
OURS void verrx(int status, const char *format, va_list given) {
    vwarnx(format, given);
    leave(status);
}
#define LISTED(call)         \
    va_list given;           \
    va_start(given, format); \
    call;                    \
    va_end(given)
OURS void warn(const char *format, ...) { LISTED(vwarn(format, given)); }
OURS void warnx(const char *format, ...) { LISTED(vwarnx(format, given)); }
OURS void err(int status, const char *format, ...) {
    va_list given;
    va_start(given, format);
    verr(status, format, given);
}
OURS void errx(int status, const char *format, ...) {
    va_list given;
    va_start(given, format);
    verrx(status, format, given);
}

enum { SYSTEM_LOG = 1 << 30 }; /* its descriptor in the output, like no other */

extern void __vsyslog_chk(int, int, const char *, va_list);

OURS void vsyslog(int priority, const char *format, va_list given) {
    va_list again;
    va_copy(again, given);
    char text[4096];
    int length = __vsnprintf_chk(text, sizeof text, 0, sizeof text, format, again);
    va_end(again);
    if (length > 0)
        log_output(SYSTEM_LOG, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
    __vsyslog_chk(priority, 0, format, given);
}
OURS void syslog(int priority, const char *format, ...) { LISTED(vsyslog(priority, format, given)); }
OURS ssize_t send(int socket, const void *from, size_t count, int flags) {
    return took(socket, from, sendto(socket, from, count, flags, NULL, 0));
}

/* ---- how the process ended ---- */

OURS _Noreturn void __afterd_exit(int status) {
    ended(1, (word)(unsigned)status);
    exit(status);
}
OURS _Noreturn void __afterd__exit(int status) {
    ended(1, (word)(unsigned)status);
    _exit(status);
}
OURS _Noreturn void __afterd__Exit(int status) {
    ended(1, (word)(unsigned)status);
    _Exit(status);
}
OURS _Noreturn void __afterd_quick_exit(int status) {
    ended(1, (word)(unsigned)status);
    quick_exit(status);
}
/* Called by the instrumented main just before it returns. */
void __afterd_main_returns(int status) { ended(1, (word)(unsigned)status); }
