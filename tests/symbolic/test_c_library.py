"""The C library as the executor has it, against the machine's own."""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterd.execution import toolchain
from afterd.localization.formula.bugassist import bugassist
from afterd.localization.formula.on_demand import on_demand
from afterd.logic.correction import Corrections
from afterd.symbolic.failing import FailingRun
from afterd.symbolic.observing import Expectation
from afterd.symbolic.refusal import NotFollowedError
from afterd.symbolic.scanning import integer, parsed_real, scanned_values
from afterd.symbolic.strings import printed_bytes
from afterd.symbolic.unrolling import Program, load
from afterd.symbolic.world import Input

HEAD = """\
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
"""
TEXT = b"12 -7 word 0x1f 3.25\nnext line, and more\n\nlast"
BODIES = {
    "characters": """
    int c, lines = 0;
    while ((c = getc(f)) != EOF)
        if (c == '\\n') { lines++; int n = getc(f); if (n != EOF) ungetc(toupper(n), f); }
        else putchar(isdigit(c) ? '#' : c);
    printf("%d %d\\n", lines, feof(f) != 0);""",
    "lines": """
    char line[9];
    while (fgets(line, sizeof line, f)) printf("[%s] %d\\n", line, (int)strcspn(line, "\\n"));
    rewind(f);
    printf("%d %ld\\n", getc(f), ftell(f));
    fseek(f, -4, SEEK_END);
    printf("%s %ld\\n", fgets(line, 9, f), ftell(f));""",
    "numbers": """
    int a; short b; char w[9]; unsigned x; double d; int got = fscanf(f, "%d %hd%8s %x%lf", &a, &b, w, &x, &d);
    printf("%d %d %d %s %u %.3f\\n", got, a, b, w, x, d);
    char rest[20]; got = fscanf(f, " %[a-z ],%*s %c", rest, w);
    printf("%d %s %c\\n", got, rest, w[0]);""",
    "blocks": """
    char block[6]; int n; unsigned sum = 0;
    while ((n = fread(block, 2, 3, f)) > 0) for (int i = 0; i < 2 * n; i++) sum = sum * 3 + block[i];
    fwrite("done\\n", 1, 5, stdout);
    printf("%u\\n", sum);""",
    "conversions": """
    char text[40], *end; fgets(text, 40, f);
    long a = strtol(text, &end, 10), b = strtol(end, &end, 8);
    printf("%ld %ld %s", a, b, end);
    printf("%ld %.2f %ld %d\\n", strtol("-0x7fz", &end, 0), strtod("1e2x", &end), strtol("z9", 0, 36), atoi("x"));
    printf("%s|%s|%d\\n", end, strstr(text, "word"), (int)strspn(text, "0123456789 "));""",
    "sorting": """
    double v[] = {3.5, -1, 9.25, 2, 2}; struct pair { int k; const char *t; } p[] = {{3,"c"},{1,"a"},{2,"b"}};
    qsort(v, 5, sizeof v[0], by_double); qsort(p, 3, sizeof p[0], by_key);
    for (int i = 0; i < 5; i++) printf("%g ", v[i]);
    int key = 2; struct pair *hit = bsearch(&key, p, 3, sizeof p[0], by_key);
    key = 7; printf("%s %d\\n", hit->t, bsearch(&key, p, 3, sizeof p[0], by_key) == NULL);""",
    "stars": """
    printf("[%*d] [%-*d] [%.*s] [%.*s] [%*s] [%.f]\\n", 5, 3, 4, 2, 2, "abc", -1, "abc", -4, "x", 2.5);""",
    "floats": """
    printf("%.3f %.3f %.3f %.1f\\n", sqrt(2.0), pow(2, 0.5), floor(-1.5), fmod(7.5, 2));
    float small = 0.1f; printf("%.9f %d %d\\n", small, (int)(small * 30), 0.1 + 0.2 == 0.3);""",
    "lists": """
    struct node { int v; struct node *next; } *first = NULL, *n; int v;
    while (fscanf(f, "%d", &v) == 1) { n = malloc(sizeof *n); n->v = v; n->next = first; first = n; }
    for (n = first; n; n = n->next) printf("%d ", n->v);
    char *copy = strdup("copied"); strncat(copy + 2, "", 1); printf("%s %d\\n", copy, memcmp("ab", "ac", 2) < 0);""",
}
COMPARES = """
int by_double(const void *a, const void *b) { double x = *(double *)a, y = *(double *)b; return (x > y) - (x < y); }
int by_key(const void *a, const void *b) { return *(int *)a - *(int *)b; }
"""


def program(folder: Path, text: str) -> Program:
    (folder / "p.c").write_text(HEAD + text)
    return load([folder / "p.c"], toolchain.find(os.environ), folder)


def built(compiler: tuple[str, ...], folder: Path) -> Path:
    made = folder / "p"
    subprocess.run([*compiler, "-w", "-o", made, folder / "p.c", "-lm"], check=True, timeout=60)
    return made


@pytest.mark.parametrize("name", BODIES)
def test_it_shows_what_the_program_prints(
    name: str, c_compiler: tuple[str, ...], tmp_path: Path
) -> None:
    """From a file and from standard input."""
    body = BODIES[name]
    opened = 'FILE *f = argc > 1 ? fopen(argv[1], "r") : stdin; if (f == NULL) return 3;'
    found = program(
        tmp_path, f"{COMPARES}int main(int argc, char **argv) {{ {opened}{body}\nreturn 0; }}"
    )
    (tmp_path / "given").write_bytes(TEXT)
    made = built(c_compiler, tmp_path)
    for arguments in ("given",), (), ("none",):
        with (tmp_path / "given").open("rb") as stdin:
            real_run = subprocess.run(
                [made, *arguments], stdin=stdin, cwd=tmp_path, capture_output=True, timeout=20,
                check=False,
            )  # fmt: skip
        shown = found.run(Input(arguments, TEXT, folder=tmp_path))
        text = b"".join(printed_bytes(event.what, event.values) for event in shown.events)
        assert (text, shown.status) == (real_run.stdout, real_run.returncode)


LIBC = ctypes.CDLL(None)


@given(st.text("+-0x19afz. e", max_size=8), st.sampled_from([0, 8, 10, 16, 36]))
def test_numbers_are_read_as_strtol_and_strtod_read_them(word: str, base: int) -> None:
    text = word.encode()
    end, buffer = ctypes.c_char_p(), ctypes.create_string_buffer(text)
    LIBC.strtol.restype, LIBC.strtod.restype = ctypes.c_long, ctypes.c_double
    value = LIBC.strtol(buffer, ctypes.byref(end), base)
    assert integer(text, base) == (value, len(text) - len(end.value or b""))
    number = LIBC.strtod(buffer, ctypes.byref(end))
    assert parsed_real(text) == (number, len(text) - len(end.value or b""))


@given(st.text("ab12- ,\n", max_size=10), st.lists(
    st.sampled_from(["%d", "%2d", "%3s", "%c", " %c", "%*d", ",", " ", "%[ab1]", "%[^,]", "%n"]),
    min_size=1, max_size=4))  # fmt: skip
def test_scanf_assigns_what_libc_assigns(word: str, directives: list[str]) -> None:
    form = "".join(directives)
    count = sum(d.count("%") - d.count("%*") for d in directives)
    buffers = [ctypes.create_string_buffer(b"\xee" * 16, 16) for _ in range(count)]
    returned = LIBC.sscanf(word.encode(), form.encode(), *buffers)
    found, assigned, _ = scanned_values(form, word.encode())
    assert assigned == returned
    for item, buffer in zip(found, buffers, strict=False):
        if isinstance(item.value, bytes):
            assert buffer.raw.startswith(item.value)
        else:
            assert int.from_bytes(buffer.raw[:4], "little", signed=True) == item.value


def test_jumps_out_of_functions_are_refused_by_name(tmp_path: Path) -> None:
    text = "#include <setjmp.h>\njmp_buf b;\nint main(void) { return setjmp(b); }"
    with pytest.raises(NotFollowedError, match="setjmp, which jumps out of functions"):
        program(tmp_path, text).run(Input())


READING = """\
static int twice(int value) { return value * 3; } /* line 6 */
int main(int argc, char **argv)
{
    char *text = argv[1]; /* 9 */
    int first = atoi(text), second = 0; /* 10 */
    int third = getchar(); /* 11 */
    sscanf(argv[2], "%d", &second); /* 12 */
    int sum = twice(first) + second; /* 13 */
    printf("%d\\n", sum + third);
    return 0;
}
"""


def test_what_carries_the_input_is_nobodys_mistake(tmp_path: Path) -> None:
    run = FailingRun(program(tmp_path, READING), Input(("4", "5"), b"!"), Expectation(None, None))
    shown = run.program.run(run.given)
    (event,) = shown.events
    expected = Expectation((type(event)(event.what, (8 + 5 + 33,)),), 0)
    for technique in (bugassist, on_demand):
        with Corrections() as solver:
            report = technique([FailingRun(run.program, run.given, expected)], solver)
        named = {line for _, line in report.lines}
        assert {6, 13} <= named
        assert not named & {9, 11, 12}


WIDTH = """\
int main(int argc, char **argv)
{
    char kind[20];
    int width = 0, half = 0;
    sscanf(argv[1], "%3s %d", kind, &width); /* line 10: "%9s" would be right */
    if (argc > 2)
        half = width / 2;
    printf("%s %d\\n", kind, width);
    return 0;
}
"""


def test_what_makes_a_number_of_the_input_is_in_doubt_where_nothing_else_could_repair_it(
    tmp_path: Path,
) -> None:
    found = program(tmp_path, WIDTH)
    given = Input(("round 345",))
    (event,) = found.run(given).events
    expected = Expectation((type(event)(event.what, (b"round", 345)),), 0)
    for technique in (bugassist, on_demand):
        with Corrections() as solver:
            report = technique([FailingRun(found, given, expected)], solver)
        assert {line for _, line in report.lines} == {10}
        assert any("makes of its input" in note for note in report.notes)


WORDS = """\
static int next(void) { return getchar(); }
int main(void)
{
    int c = next(), letters = 0, words = 0;
    while (c != EOF) {
        while (isalpha(c)) {
            letters++;
            c = next();
        }
        words = words + 2; /* line 15 */
        while (c != EOF && !isalpha(c))
            c = next();
    }
    printf("%d %d\\n", words, letters);
    return 0;
}
"""


def test_a_loop_that_reads_is_followed_on_its_other_sides(tmp_path: Path) -> None:
    """Where a stream stands is memory: behind a branch it is chosen by the branch."""
    found = program(tmp_path, WORDS)
    given = Input((), b"ab c")
    (event,) = found.run(given).events
    expected = Expectation((type(event)(event.what, (2, 3)),), 0)
    with Corrections() as solver:
        every = bugassist([FailingRun(found, given, expected)], solver)
        few = on_demand([FailingRun(found, given, expected)], solver)
    assert 15 in {line for _, line in every.lines}
    assert 15 in {line for _, line in few.lines}
