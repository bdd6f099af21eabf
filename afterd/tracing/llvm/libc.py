"""What functions of the C library write: enough to say who put bytes into memory.

A function that is not listed may write through any pointer it is given.
"""

from __future__ import annotations

_READS_ONLY = frozenset(
    [
        "strlen",
        "strnlen",
        "strcmp",
        "strncmp",
        "strcasecmp",
        "strncasecmp",
        "strchr",
        "strrchr",
        "strstr",
        "strpbrk",
        "strspn",
        "strcspn",
        "memcmp",
        "memchr",
        "printf",
        "fprintf",
        "puts",
        "fputs",
        "fputc",
        "putc",
        "putchar",
        "fwrite",
        "write",
        "dprintf",
        "perror",
        "exit",
        "_exit",
        "atoi",
        "atol",
        "atoll",
        "atof",
        "free",
        "isatty",
        "unlink",
        "remove",
        "rename",
        "mkdir",
        "rmdir",
        "chdir",
        "access",
        "open",
        "fopen",
        "setenv",
        "getenv",
        "putenv",
        "abort",
        "__assert_fail",
        "__errno_location",
        "__ctype_b_loc",
        "toupper",
        "tolower",
        "time",
        "clock",
        "malloc",
        "calloc",
        "fclose",
        "fflush",
        "ferror",
        "feof",
        "fileno",
        "strcoll",
        "setlocale",
        "raise",
        "signal",
        "sleep",
        "usleep",
    ]
)
_WRITES = {
    "memcpy": {0},
    "memmove": {0},
    "memset": {0},
    "strcpy": {0},
    "strncpy": {0},
    "stpcpy": {0},
    "strcat": {0},
    "strncat": {0},
    "sprintf": {0},
    "snprintf": {0},
    "vsprintf": {0},
    "vsnprintf": {0},
    "strftime": {0},
    "strtol": {1},
    "strtoul": {1},
    "strtoll": {1},
    "strtoull": {1},
    "strtod": {1},
    "strtof": {1},
    "read": {1},
    "pread": {1},
    "fread": {0},
    "fgets": {0},
    "getline": {0, 1},
    "getdelim": {0, 1},
    "qsort": {0},
    "gettimeofday": {0},
    "stat": {1},
    "lstat": {1},
    "fstat": {1},
    "localtime_r": {1},
    "gmtime_r": {1},
    "frexp": {1},
    "modf": {1},
}
_RETURNS_NEW = frozenset(
    [
        "strdup",
        "strndup",
        "calloc",
        "realloc",
        "reallocarray",
        "getcwd",
        "ctime",
        "asctime",
        "localtime",
        "gmtime",
        "fgets",
    ]
)
_COPIES = {
    "strcpy": (0, 1),
    "stpcpy": (0, 1),
    "strncpy": (0, 1),
    "memcpy": (0, 1),
    "memmove": (0, 1),
    "mempcpy": (0, 1),
    "strdup": (-1, 0),
    "strndup": (-1, 0),
    "realloc": (-1, 0),
    "reallocarray": (-1, 0),
}


def copies(name: str) -> tuple[int, int] | None:
    """The arguments that a function copies bytes to and from, byte by byte; -1 is what it returns."""
    return _COPIES.get(name.removeprefix("@"))


def writes(name: str, argument: int) -> bool:
    """Whether ``@name`` may write through its argument of this number."""
    plain = name.removeprefix("@")
    if plain in _READS_ONLY:
        return False
    if plain.startswith("llvm."):
        return argument == 0
    return argument in _WRITES[plain] if plain in _WRITES else True


def returns_written(name: str) -> bool:
    """Whether what the result points to was filled by the call."""
    return name.removeprefix("@") in _RETURNS_NEW


def known(name: str) -> bool:
    """Whether the table has the function."""
    plain = name.removeprefix("@")
    return plain in _READS_ONLY or plain in _WRITES or plain in _RETURNS_NEW
