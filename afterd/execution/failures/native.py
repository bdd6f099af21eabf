"""Failures of compiled programs: assertions, sanitizers, crashes, panics."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath
from signal import Signals

from afterd.execution.failures.text import normalised, one_line, without_values
from afterd.model.outcome import FailureKind, FailureSignature

_ASSERTIONS = (
    # glibc:  prog: file.c:12: int f(int): Assertion `x == 5' failed.
    re.compile(
        r"^(?:(?P<process>[^:\n]+): )?(?P<file>[^:\n]+):\d+: (?:(?P<symbol>[^\n]+): )?"
        r"Assertion [`'](?P<message>.*)' failed\.?",
        re.MULTILINE,
    ),
    # macOS, BSD:  Assertion failed: (x == 5), function f, file file.c, line 12.
    re.compile(
        r"^Assertion failed: \((?P<message>.*)\), function (?P<symbol>[^,\n]+), "
        r"file (?P<file>[^,\n]+), line \d+",
        re.MULTILINE,
    ),
    # musl:  Assertion failed: x == 5 (file.c: f: 12)
    re.compile(
        r"^Assertion failed: (?P<message>.*) \((?P<file>[^:()\n]+): (?P<symbol>[^:\n]+): \d+\)$",
        re.MULTILINE,
    ),
    # GLib:  ERROR:file.c:12:f: assertion failed (x == 5): (3 == 5)
    re.compile(
        r"ERROR:(?P<file>[^:\n]+):\d+:(?P<symbol>[^:\n]+): assertion failed:? "
        r"\((?P<message>.*?)\)(?:: .*)?$",
        re.MULTILINE,
    ),
    # Check:  file.c:12:F:Case:test_name:0: Assertion 'x == 5' failed: x == 3, 5 == 5
    re.compile(
        r"^(?P<file>[^:\n]+):\d+:[FE]:[^:\n]*:(?P<symbol>[^:\n]+):\d+: (?P<message>[^\n]*?)"
        r"(?:' failed: .*)?$",
        re.MULTILINE,
    ),
    # Unity:  file.c:12:test_name:FAIL: Expected 5 Was 3
    re.compile(r"^(?P<file>[^:\n]+):\d+:(?P<symbol>\w+):FAIL(?:: (?P<message>.*))?$", re.MULTILINE),
)

_SANITIZER = re.compile(
    r"(?:ERROR|WARNING): (?P<tool>\w+Sanitizer): (?P<what>.*?)"
    r"(?: on (?:unknown )?address\b.*| \(pid.*| 0x.*| in \S+ at .*)?$",
    re.MULTILINE,
)
_FRAME = re.compile(
    r"^[ \t]*#\d+ 0x[0-9a-f]+ (?:in )?(?P<symbol>.+?) (?P<file>[^\s/<][^\s:]*):\d+", re.MULTILINE
)
_UNDEFINED = re.compile(
    r"^(?P<file>[^:\n]+):\d+:\d+: runtime error: (?P<message>.*)$", re.MULTILINE
)
_TERMINATE = re.compile(
    r"terminate called after throwing an instance of '(?P<type>[^']+)'"
    r"(?:\n\s*what\(\):\s*(?P<text>.*))?"
)
_PANIC = re.compile(
    r"^thread '(?P<symbol>[^'\n]*)' (?:\(\d+\) )?panicked at "
    r"(?:(?P<file>[^\s:']+):\d+:\d+:\n(?P<message>.*)"
    r"|'(?P<old>.*)', (?P<old_file>[^:\n]+):\d+:\d+)",
    re.MULTILINE,
)
_CRASHED = re.compile(
    r"(?:^|: *)(?:(?:line )?\d+: +)?(?:\d+ )?(?P<what>Segmentation fault|Aborted|Abort trap"
    r"|Bus error|Floating point exception|Illegal instruction|Trace/breakpoint trap)"
    r"(?! \w)(?:: \d+)?(?: +\(core dumped\))?(?: +(?P<process>[^\s(|<>&;]+).*)?$",
    re.MULTILINE,
)
_REFUSED = re.compile(  # of compilers (GCC, clang, rustc) and linkers; make's own last line names the file alone
    r"^(?:[^:\n]+:\d+(?::\d+)?: (?:fatal )?error: .*|error(?:\[\w+\])?: .*|.*undefined reference to .*)$",
    re.MULTILINE,
)
_CMAKE = re.compile(  # what it lists stands below a blank line
    r"^CMake Error(?: at (?P<place>[^:\n]+:\d+) \(\w+\))?:\n(?P<said>(?: {2}.*\n?)+(?:(?<=:\n)\n(?: {2}.*\n?)+)?)",
    re.MULTILINE,
)
_OF_SOURCE = re.compile(
    r"^[^:\n]+\.(?:[chm]|cc|cpp|cxx|c\+\+|hh|hpp|hxx|inl|ipp|mm|rs):\d|undefined reference to ",
)
_NEWLY = re.compile(
    r"^.*(?:\[-Werror[=,\]]|warnings? (?:being )?treated as errors|\bmultiple definition of [`'‘]\w+['’]).*$",
    re.MULTILINE | re.IGNORECASE,
)
_UNUSED = re.compile(r"\[-Werror(?:=|,-W)(?:unused|unneeded)-[\w=-]+\]")
_NEWLY_RUST = re.compile(  # a group of lints, of which a newer compiler has more
    r"^error: (?P<said>.*)\n(?:(?!error\b).*\n)*?.*implied by `(?P<by>(?:#!?\[(?:deny|forbid)\(|-[DF] ).*)`$",
    re.MULTILINE,
)
_NEWLY_GO = re.compile(  # vet names its package without the program that the tests are compiled to, or twice
    r"^# \S+\n(?:# \[\S+\]\n(?!vet: )|(?=\S+_test\.go:))(?P<said>\S+\.go:\d+:\d+: .*)$",
    re.MULTILINE,
)
_SIGNALS = {
    "Segmentation fault": "SIGSEGV",
    "Aborted": "SIGABRT",
    "Abort trap": "SIGABRT",
    "Bus error": "SIGBUS",
    "Floating point exception": "SIGFPE",
    "Illegal instruction": "SIGILL",
    "Trace/breakpoint trap": "SIGTRAP",
}


def assertion(text: str) -> FailureSignature | None:
    """The last failed assertion of a C or C++ program or test framework."""
    found = assertions(text)
    return found[-1] if found else None


def assertions(text: str) -> list[FailureSignature]:
    """The failed assertions of C or C++ programs or test frameworks, in order."""
    found = [match for pattern in _ASSERTIONS for match in pattern.finditer(text)]
    return [_asserted(match.groupdict()) for match in sorted(found, key=re.Match.start)]


def _asserted(parts: Mapping[str, str | None]) -> FailureSignature:
    return FailureSignature(
        FailureKind.ASSERTION,
        message=_condition(parts["message"] or ""),
        file=_file(parts["file"] or ""),
        symbol=_function(parts.get("symbol") or ""),
        process=_program(parts.get("process") or ""),
    )


def sanitizer(text: str) -> FailureSignature | None:
    """A sanitizer's report, placed at its first frame with a source of the tree."""
    if match := _SANITIZER.search(text):
        frame = _FRAME.search(text, match.end())
        return FailureSignature(
            FailureKind.CRASH,
            message=f"{match['tool']}: {normalised(match['what'])}",
            file=_file(frame["file"]) if frame else "",
            symbol=_function(frame["symbol"]) if frame else "",
        )
    return None


def undefined_behaviour(text: str) -> FailureSignature | None:
    """A report of UBSan, which by itself does not end the program: an assertion comes before it."""
    if match := _UNDEFINED.search(text):
        return FailureSignature(
            FailureKind.CRASH, message=normalised(match["message"]), file=_file(match["file"])
        )
    return None


def uncaught_exception(text: str) -> FailureSignature | None:
    """An uncaught C++ exception, or a Rust panic."""
    if match := _TERMINATE.search(text):
        message = f"{match['type']}: {normalised(match['text'] or '')}"
        return FailureSignature(FailureKind.EXCEPTION, message=message)
    if match := _PANIC.search(text):
        message = match["message"] or match["old"] or ""
        kind = FailureKind.ASSERTION if message.startswith("assertion") else FailureKind.EXCEPTION
        return FailureSignature(
            kind,
            message=without_values(message),
            file=_file(match["file"] or match["old_file"]),
            symbol=match["symbol"],
        )
    return None


def crash(text: str, signal: int) -> FailureSignature | None:
    """Death by ``signal``, or one that a shell reported of a program it started."""
    reports = list(_CRASHED.finditer(text))
    process = _program(reports[-1]["process"] or "") if reports else ""
    if signal:
        name = Signals(signal).name if signal in set(Signals) else f"signal {signal}"
        return FailureSignature(FailureKind.CRASH, message=name, process=process)
    if reports:
        name = _SIGNALS[reports[-1]["what"]]
        return FailureSignature(FailureKind.CRASH, message=name, process=process)
    return None


def newly_refused(text: str) -> str:
    """The first line in which a compiler refuses what older ones took: a warning that is an error there, or a variable
    of C in several objects, or what Go's vet finds, which ``go test`` runs first; empty where none does.
    """
    if of_rust := _NEWLY_RUST.search(text):
        return f"{of_rust['said']} ({of_rust['by']})"
    if of_go := _NEWLY_GO.search(text):
        return of_go["said"]
    found = _NEWLY.search(text)
    return found[0] if found else ""


def refused_for_warnings(text: str) -> str:
    """The first warning, of something that nobody uses, for which a build was refused that found nothing else at fault;
    empty where there is none.
    """
    if of_rust := _NEWLY_RUST.search(text):
        return "" if "error[" in text else f"{of_rust['said']} ({of_rust['by']})"
    errors: list[str] = _REFUSED.findall(text)
    return errors[0] if errors and all(map(_UNUSED.search, errors)) else ""


def refused(text: str) -> str:
    """The first line in which a compiler or a linker refuses something, or CMake before them; empty where none does."""
    if of_cmake := _CMAKE.search(text):
        said = " ".join(of_cmake["said"].split())
        return f"{of_cmake['place']}: {said}" if of_cmake["place"] else said
    found = _REFUSED.search(text)
    return found[0] if found else ""


def not_compiled(text: str) -> str:
    """The same where it is a source of a compiled language, or what was to be linked: programs tell of what they read
    as compilers do.
    """
    found = (match[0] for match in _REFUSED.finditer(text))
    return next((line for line in found if _OF_SOURCE.search(line)), "")


def _condition(message: str) -> str:
    """The asserted condition as it is written; Unity's prose has its values taken out."""
    return without_values(message) if message.startswith("Expected ") else one_line(message)


def _program(path: str) -> str:
    """The program's name, without libtool's prefix for a program not installed yet."""
    return PurePath(path.strip()).name.removeprefix("lt-")


def _file(path: str) -> str:
    """A path as compilers print it: from the source directory or from somewhere below it."""
    while path.startswith(("./", "../")):
        path = path.partition("/")[2]
    return path


def _function(symbol: str) -> str:
    """``f`` for ``int ns::f(int)``: GCC prints the declaration, clang on macOS the bare name."""
    name = symbol.partition("(")[0].strip() or symbol
    return name.split()[-1].lstrip("*&") if name.split() else ""
