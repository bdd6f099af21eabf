"""What is known of functions the tracer cannot see into.

The rule is that an opaque call may change every mutable object it gets. These builtins do not.
"""

from __future__ import annotations

from afterd.trace.python.read.program import BUILTIN, Node


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PURE_FUNCTIONS = _words("""
    abs all any ascii bin bool bytes callable chr classmethod complex dict dir divmod enumerate
    filter float format frozenset getattr hasattr hash hex id int isinstance issubclass iter len
    list locals globals map max memoryview min object oct ord pow print property range repr
    reversed round set slice sorted staticmethod str sum super tuple type vars zip
""")

_READING_METHODS = _words("""
    as_integer_ratio bit_length capitalize casefold center copy count decode difference encode
    endswith expandtabs find findall finditer format format_map fullmatch get group groupdict
    groups hex index intersection is_integer isalnum isalpha isascii isdecimal isdigit isdisjoint
    isidentifier islower isnumeric isprintable isspace issubset issuperset istitle isupper items
    join keys ljust lower lstrip maketrans match partition removeprefix removesuffix replace rfind
    rindex rjust rpartition rsplit rstrip search span split splitlines start startswith strip sub
    swapcase symmetric_difference title translate union upper values zfill
""")

_STORING_METHODS = _words("""
    add append appendleft discard extend index insert join put remove setdefault
""")
"""Methods that keep or look for what they are given, and leave it as it is."""

_UNCHANGING = _words("""
    module type function builtin_function_or_method method method_descriptor wrapper_descriptor
    str int float complex bytes bool NoneType tuple frozenset range mappingproxy Pattern Match date
    datetime time timedelta timezone Decimal Fraction UUID Path PosixPath WindowsPath PurePosixPath
""")
"""Types by name: what is called on an object of these changes nothing in it."""

_WRITING = _words("""
    echo print secho send sendall sendto write write_bytes write_text writelines
""")
"""Functions and methods that write what they are given to where it may be read again."""

_LOGGING = _words("""
    critical debug error exception fatal info log warn warning
""")
"""Functions and methods that write a format, filled with what else they are given (logging, warnings)."""

_MOCKS = _words("AsyncMock MagicMock Mock NonCallableMagicMock NonCallableMock PropertyMock")


def pure_function(call: Node) -> bool:
    """Whether a call is of a builtin that writes to none of its arguments."""
    function = call["func"]
    if function.type != "Name":
        return False
    return function["owner"] == BUILTIN and function["id"] in PURE_FUNCTIONS


def leaves_arguments(method: str) -> bool:
    """Whether an opaque method of this name leaves the objects alone that it is given."""
    return method in _STORING_METHODS or method in _READING_METHODS


def may_write(method: str) -> bool:
    """Whether an opaque method of this name may change its object."""
    return method not in _READING_METHODS


def writes_texts(name: str) -> bool:
    """Whether an opaque function of this name writes texts to a stream, a file or a socket."""
    return name in _WRITING or name in _LOGGING


def fills_format(name: str) -> bool:
    """Whether the first text that an opaque function of this name is given is a format of ``%``'s kind."""
    return name in _LOGGING


def is_mock(type_name: str) -> bool:
    """Whether an object of this type keeps what it, or an attribute of it, was called with."""
    return type_name in _MOCKS


def is_unchanging(type_name: str) -> bool:
    """Whether no method of an object of this type changes it; a module or class is none's state."""
    return type_name in _UNCHANGING
