/* What a runtime in somebody's program does by itself: the program may have functions of its own with the
 * names of the C library's (an interpreter for small machines, with a snprintf that knows no %llu), and those
 * would be called, woven as they are. The runtimes are compiled with -fno-builtin, so that no loop here is
 * made a call of memcpy.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

static inline void copy_bytes(void *to, const void *from, size_t size) {
    for (size_t n = 0; n < size; n++) ((char *)to)[n] = ((const char *)from)[n];
}

static inline void clear_bytes(void *at, size_t size) {
    for (size_t n = 0; n < size; n++) ((char *)at)[n] = 0;
}

static inline int same_bytes(const char *one, const char *other, size_t size) {
    for (size_t n = 0; n < size; n++)
        if (one[n] != other[n]) return 0;
    return 1;
}

static inline size_t length_of(const char *text) {
    size_t length = 0;
    while (text[length]) length++;
    return length;
}

/* What comes behind ``start`` in a text that begins with it, or NULL. */
static inline const char *behind(const char *text, const char *start) {
    while (*start)
        if (*text++ != *start++) return NULL;
    return text;
}

static inline int same_text(const char *one, const char *other) {
    const char *rest = behind(one, other);
    return rest && !*rest;
}

/* The next such byte of a text, or NULL. */
static inline const char *next_of(const char *text, char byte) {
    for (; *text; text++)
        if (*text == byte) return text;
    return NULL;
}

/* The number at the beginning of a text, and where it ends. */
static inline uint64_t number_in(const char *text, const char **end) {
    uint64_t number = 0;
    while (*text == ' ') text++;
    for (; *text >= '0' && *text <= '9'; text++) number = 10 * number + (uint64_t)(*text - '0');
    if (end) *end = text;
    return number;
}

static inline const char *variable(const char *name) {
    const char *value;
    for (char **each = environ; each && *each; each++)
        if ((value = behind(*each, name)) && *value == '=') return value + 1;
    return NULL;
}

/* A text that is put together; what does not fit is left out, and ``whole`` is 0. */
struct text {
    char *at, *end;
    int whole;
};

static inline void add(struct text *text, const char *more) {
    for (; *more && text->at < text->end - 1; more++) *text->at++ = *more;
    if (*more) text->whole = 0;
    *text->at = 0;
}

static inline void add_number(struct text *text, uint64_t number, int least) {
    char digits[24], *first = digits + sizeof digits - 1;
    *first = 0;
    for (; number || least > 0; number /= 10, least--) *--first = (char)('0' + number % 10);
    add(text, first);
}

/* FOLDER/NAME; whether it fits. */
static inline int path_of(char *path, size_t size, const char *folder, const char *name) {
    struct text text = {path, path + size, 1};
    add(&text, folder);
    add(&text, "/");
    add(&text, name);
    return text.whole;
}

static inline int open_file(const char *path, int flags) {
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0600);
}
static inline void close_file(int file) { syscall(SYS_close, file); }
static inline ssize_t read_file(int file, void *to, size_t size) { return syscall(SYS_read, file, to, size); }
static inline ssize_t write_file(int file, const void *from, size_t size) {
    return syscall(SYS_write, file, from, size);
}
static inline int grow_file(int file, uint64_t size) { return (int)syscall(SYS_ftruncate, file, size); }
static inline ssize_t link_text(const char *path, char *to, size_t size) {
    return syscall(SYS_readlinkat, AT_FDCWD, path, to, size);
}
static inline void *map_bytes(void *at, size_t size, int flags, int file, uint64_t offset) {
    return (void *)syscall(SYS_mmap, at, size, PROT_READ | PROT_WRITE, flags, file, offset);
}
static inline void unmap_bytes(void *at, size_t size) { syscall(SYS_munmap, at, size); }
static inline pid_t process_number(void) { return (pid_t)syscall(SYS_getpid); }
