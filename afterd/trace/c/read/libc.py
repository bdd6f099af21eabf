"""What functions of the C library write: enough to say who put bytes into memory.

A function that is not listed may write through any pointer it is given.
"""

from __future__ import annotations

_LOOKS_AT_BYTES = (
    *("strlen", "strnlen", "strcmp", "strncmp", "strcasecmp", "strncasecmp", "strchr", "strrchr"),
    *("strstr", "strpbrk", "strspn", "strcspn", "memcmp", "memchr"),
)
_READS_ONLY = frozenset(
    [
        *_LOOKS_AT_BYTES,
        "printf",
        "fprintf",
        "puts",
        "fputs",
        "fputc",
        "putc",
        "putchar",
        "fwrite",
        "write",
        "pwrite",
        "writev",
        "pwritev",
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
        # operator delete and delete[] of C++, with the size and the alignment that they are told
        *("_ZdlPv", "_ZdlPvm", "_ZdlPvSt11align_val_t", "_ZdlPvmSt11align_val_t"),
        *("_ZdaPv", "_ZdaPvm", "_ZdaPvSt11align_val_t", "_ZdaPvmSt11align_val_t"),
    ]
)
_WRITES: dict[str, dict[int, tuple[int, ...] | int | None]] = {
    "memcpy": {0: (2,)},
    "memmove": {0: (2,)},
    "memset": {0: (2,)},
    "strcpy": {0: None},
    "strncpy": {0: (2,)},
    "stpcpy": {0: None},
    "strcat": {0: None},
    "strncat": {0: None},
    "sprintf": {0: None},
    "snprintf": {0: (1,)},
    "vsprintf": {0: None},
    "vsnprintf": {0: (1,)},
    "strftime": {0: (1,)},
    "strtol": {1: 8},
    "strtoul": {1: 8},
    "strtoll": {1: 8},
    "strtoull": {1: 8},
    "strtod": {1: 8},
    "strtof": {1: 8},
    "read": {1: (2,)},
    "pread": {1: (2,)},
    "fread": {0: (1, 2)},
    "fgets": {0: (1,)},
    "getline": {0: 8, 1: 8},
    "getdelim": {0: 8, 1: 8},
    "qsort": {0: (1, 2)},
    "gettimeofday": {0: 16},
    "stat": {1: None},
    "lstat": {1: None},
    "fstat": {1: None},
    "localtime_r": {1: None},
    "gmtime_r": {1: None},
    "frexp": {1: 4},
    "modf": {1: 8},
    # what these write is what they return; through what they are given they only read
    "calloc": {},
    "realloc": {},
    "reallocarray": {},
    "strdup": {},
    "strndup": {},
    "ctime": {},
    "asctime": {},
    "localtime": {},
    "gmtime": {},
}
"""By argument written through, how many bytes at most: a product of arguments, or a number."""
_ALLOCATES = {
    "malloc": (0,),
    "calloc": (0, 1),
    "realloc": (1,),
    "reallocarray": (1, 2),
    "aligned_alloc": (1,),
    "_Znwm": (0,),
    "_Znam": (0,),
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
_ADDS_TO = frozenset(["strcat", "strncat"])
_CLOCKS = frozenset(
    [
        *("time", "clock", "times", "ftime", "gettimeofday", "clock_gettime", "timespec_get"),
        *("getrusage", "llvm.readcyclecounter"),
        # now() of C++'s std::chrono: of GNU's library and of LLVM's
        *("_ZNSt6chrono3_V212system_clock3nowEv", "_ZNSt6chrono3_V212steady_clock3nowEv"),
        *("_ZNSt3__16chrono12system_clock3nowEv", "_ZNSt3__16chrono12steady_clock3nowEv"),
    ]
)

_OPTIONS = frozenset(["getopt", "getopt_long", "getopt_long_only"])
_SETS = {
    **dict.fromkeys(("optarg", "optind", "optopt"), _OPTIONS),
    "environ": frozenset(["setenv", "unsetenv", "putenv", "clearenv"]),
    **dict.fromkeys(
        ("timezone", "daylight", "tzname"), frozenset(["tzset", "localtime", "mktime"])
    ),
    "signgam": frozenset(["lgamma", "lgammaf", "lgammal", "gamma"]),
    "h_errno": frozenset(["gethostbyname", "gethostbyaddr"]),
}
"""By variable of the C library, the functions that set it beside what they return."""
_VARIABLES_AT = {"__errno_location": "errno", "__h_errno_location": "h_errno"}
_KEEPS_ERRNO = frozenset(
    [
        *_LOOKS_AT_BYTES,
        *("strcpy", "strncpy", "stpcpy", "strcat", "strncat", "memcpy", "memmove", "memset"),
        *("atoi", "atol", "atoll", "atof", "free", "isatty", "getenv", "abort"),
        *("__errno_location", "__ctype_b_loc", "toupper", "tolower", "strerror", "time"),
        *("clock", "qsort", "bsearch", "abs", "labs", "ferror", "feof", "getpid"),
    ]
)

_GIVEN_TEXT = frozenset(
    [
        *("open", "fopen", "access", "stat", "lstat", "opendir", "unlink", "remove", "mkdir"),
        *("getenv", "strtol", "strtoul", "strtoll", "strtoull", "strtod", "atoi", "atol", "atof"),
        *("strcmp", "strcasecmp", "strcoll", "strchr", "strrchr", "strstr", "strpbrk", "strspn"),
        *("strcspn", "setlocale", "system", "popen", "execv", "execvp", "getpwnam", "getopt"),
    ]
)


_OF_LARGE_FILES = frozenset(
    [
        *(
            "open",
            "openat",
            "creat",
            "fopen",
            "freopen",
            "mkstemp",
            "tmpfile",
            "truncate",
            "ftruncate",
        ),
        *(
            "pread",
            "pwrite",
            "preadv",
            "pwritev",
            "lseek",
            "fseeko",
            "ftello",
            "readdir",
            "scandir",
        ),
        *("stat", "lstat", "fstat", "fstatat", "mmap"),
    ]
)


def plain_name(name: str) -> str:
    """The name by which a function of the C library is known here: its header gives it another one for files over
    two gigabytes (``pread64``) and for a newer standard (``__isoc23_strtol``).
    """
    plain = name.removeprefix("@").removeprefix("__isoc99_").removeprefix("__isoc23_")
    large = plain.removesuffix("64")
    return large if large in _OF_LARGE_FILES else plain


def is_given_text(name: str) -> bool:
    """Whether what a function does depends on every byte of the texts that it is given."""
    return plain_name(name) in _GIVEN_TEXT


def copies(name: str) -> tuple[int, int] | None:
    """The arguments that a function copies bytes to and from, byte by byte; -1 is what it returns."""
    return _COPIES.get(plain_name(name))


def reads_clock(name: str) -> bool:
    """Whether a function gives, or writes, what a clock says."""
    return plain_name(name) in _CLOCKS


def adds_to(name: str) -> bool:
    """Whether a function leaves what stands where it writes, and writes behind it."""
    return plain_name(name) in _ADDS_TO


def writes_through(name: str, argument: int) -> bool:
    """Whether ``@name`` may write through its argument of this number."""
    plain = plain_name(name)
    if plain in _READS_ONLY:
        return False
    if plain.startswith("llvm."):
        return argument == 0
    return argument in _WRITES[plain] if plain in _WRITES else True


def variable_at(name: str) -> str:
    """The variable of the C library that ``@name`` returns the address of; empty where it is none."""
    return _VARIABLES_AT.get(plain_name(name), "")


def sets(name: str, variable: str) -> bool:
    """Whether ``@name`` may set a variable of the C library. Whoever fails sets ``errno``."""
    plain = plain_name(name)
    if variable == "errno":
        return plain not in _KEEPS_ERRNO and not plain.startswith("llvm.")
    return plain in _SETS.get(variable, ())


def is_set_by_some(variable: str) -> bool:
    """Whether the C library has a variable of this name that some of its functions set."""
    return variable == "errno" or variable in _SETS


def at_most(name: str, argument: int) -> tuple[int, ...] | int | None:
    """How many bytes a function writes through an argument, or (-1) to what it returns, at most: the
    arguments whose product it is, or a number; None where that is not told here.
    """
    plain = plain_name(name)
    if argument < 0:
        return _ALLOCATES.get(plain)
    return _WRITES.get(plain, {}).get(argument)


def allocates(name: str) -> tuple[int, ...]:
    """The arguments whose product is the size of what a function allocates; empty for other functions."""
    return _ALLOCATES.get(plain_name(name), ())


def returns_written(name: str) -> bool:
    """Whether what the result points to was filled by the call."""
    return plain_name(name) in _RETURNS_NEW


def is_known_function(name: str) -> bool:
    """Whether the table has the function."""
    plain = plain_name(name)
    return plain in _READS_ONLY or plain in _WRITES or plain in _RETURNS_NEW
