"""TCM and GZoltar matrices: files of other tools, round trips of ours, and clear refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from spectra_of import timeless

from afterd.errors import UsageError
from afterd.localization.formats.files import read_matrix, write_matrix
from afterd.localization.formats.gzoltar import (
    parse_gzoltar,
    render_matrix,
    render_spectra,
    render_tests,
)
from afterd.localization.formats.labels import decoded_label, encoded_label
from afterd.localization.formats.tcm import parse_tcm, render_tcm
from afterd.localization.spectrum import Entity, EntityKind, Run, Spectrum, spectrum_of
from afterd.model.location import Location

TCM = """\
#metadata
tool: something else

#tests
org.foo.BarTest:testOne PASSED
org.foo.BarTest:testTwo FAILED java.lang.AssertionError: expected 3
org.foo.BarTest:testThree ERROR

#uuts
org.foo.Bar:baz:12 | 1 | 7
org.foo.Bar:qux
a name with spaces

#matrix
0 3 2 1

1 1
"""
GZOLTAR_TESTS = [
    "name,outcome,runtime,stacktrace",
    "my.AppTest#one,FAIL,4536873,java.lang.AssertionError: a, b",
    "my.AppTest#two[1,2],PASS,135872,",
]
GZOLTAR_SPECTRA = ["name", "my$App#mid(int,int,int):5", "my$App$Inner#run():77:2", "$Top#m():3"]
GZOLTAR_MATRIX = ["1 0 1 -", "0 0 1 +"]


def test_a_tcm_file_of_another_tool() -> None:
    spectrum = parse_tcm(TCM.splitlines(keepends=True), "x.tcm")
    assert spectrum.runs == (
        Run("org.foo.BarTest:testOne", failed=False),
        Run("org.foo.BarTest:testTwo", failed=True, detail="java.lang.AssertionError: expected 3"),
        Run("org.foo.BarTest:testThree", failed=True),
    )
    assert spectrum.entities == (
        Entity(
            EntityKind.STATEMENT,
            Location("org.foo.Bar", 12, function="baz"),
            bugs=("1", "7"),
        ),
        Entity(EntityKind.STATEMENT, Location("org.foo.Bar:qux"), "org.foo.Bar:qux"),
        Entity(EntityKind.STATEMENT, Location("a name with spaces"), "a name with spaces"),
    )
    assert spectrum.executed.toarray().tolist() == [[3, 0, 1], [0, 0, 0], [0, 1, 0]]


def test_a_tcm_file_keeps_its_names_when_written_again() -> None:
    text = "".join(render_tcm(parse_tcm(TCM.splitlines(), "x.tcm")))
    assert "\norg.foo.Bar:baz:12 | 1 | 7\norg.foo.Bar:qux\na name with spaces\n\n" in text
    assert "\norg.foo.BarTest:testTwo FAILED java.lang.AssertionError: expected 3\n" in text
    assert text.endswith("#matrix\n0 3 2 1\n\n1 1\n")


def test_a_gzoltar_report() -> None:
    spectrum = parse_gzoltar(GZOLTAR_TESTS, GZOLTAR_SPECTRA, GZOLTAR_MATRIX, "sfl")
    assert spectrum.runs == (
        Run("my.AppTest#one", failed=True, detail="java.lang.AssertionError: a, b"),
        Run("my.AppTest#two[1,2]", failed=False),
    )
    assert [(e.location.file, e.location.function, e.location.line) for e in spectrum.entities] == [
        ("my.App", "mid(int,int,int)", 5),
        ("my.App$Inner", "run()", 77),
        ("Top", "m()", 3),
    ]
    assert spectrum.entities[1].bugs == ("2",)
    assert spectrum.executed.toarray().tolist() == [[1, 0, 1], [0, 0, 1]]
    assert [line.rstrip("\n") for line in render_spectra(spectrum)] == GZOLTAR_SPECTRA
    assert [line.rstrip("\n") for line in render_matrix(spectrum)] == GZOLTAR_MATRIX


def test_a_gzoltar_report_of_before_tests_csv() -> None:
    spectrum = parse_gzoltar(None, GZOLTAR_SPECTRA[1:], GZOLTAR_MATRIX, "sfl")
    assert spectrum.runs == (Run("t1", failed=True), Run("t2", failed=False))


def test_wider_white_space_in_a_gzoltar_matrix() -> None:
    spectrum = parse_gzoltar(None, GZOLTAR_SPECTRA, ["1\t0  1 -", " 0 0 1 +"], "sfl")
    assert spectrum.executed.toarray().tolist() == [[1, 0, 1], [0, 0, 1]]


files = st.text(max_size=12).map(lambda text: text.replace("\0", "%"))
locations = st.builds(Location, files, st.integers(0, 10**6), function=files)
runs = st.builds(Run, st.text(min_size=1, max_size=12), st.booleans(), st.sampled_from(["", "E x"]))


@st.composite
def drawn_matrices(draw: st.DrawFn) -> Spectrum:
    """Any locations and test names at all, with bugs marked here and there."""
    tests = draw(st.lists(runs, min_size=1, max_size=4))
    places = draw(st.lists(locations, min_size=1, max_size=5))
    bugs = st.sampled_from([(), ("1",), ("1", "2")])
    entities = [Entity(EntityKind.STATEMENT, place, bugs=draw(bugs)) for place in places]
    cells = st.integers(0, 10**12)
    row = st.lists(cells, min_size=len(places), max_size=len(places))
    counts = draw(st.lists(row, min_size=len(tests), max_size=len(tests)))
    return spectrum_of(tests, entities, sparse.csr_array(np.array(counts, np.int64)))


@timeless
@given(drawn_matrices())
def test_what_tcm_says_is_read_back(spectrum: Spectrum) -> None:
    lines = "".join(render_tcm(spectrum)).split("\n")
    again = parse_tcm(lines[:-1], "x.tcm")
    assert again.runs == spectrum.runs
    assert again.entities == spectrum.entities
    assert again.executed.toarray().tolist() == spectrum.executed.toarray().tolist()


@timeless
@given(drawn_matrices())
def test_what_gzoltar_says_is_read_back(spectrum: Spectrum) -> None:
    again = parse_gzoltar(
        "".join(render_tests(spectrum)).split("\n")[:-1],
        "".join(render_spectra(spectrum)).split("\n")[:-1],
        "".join(render_matrix(spectrum)).split("\n")[:-1],
        "sfl",
    )
    assert again.runs == spectrum.runs
    assert again.entities == spectrum.entities
    assert again.executed.toarray().tolist() == (spectrum.executed.toarray() > 0).tolist()


@timeless
@given(
    st.text(
        st.characters(codec="utf-8") | st.characters(min_codepoint=0xDC80, max_codepoint=0xDCFF)
    )
)
def test_a_name_is_one_word_and_comes_back(name: str) -> None:
    word = encoded_label(name)
    assert word.split() == ([word] if word else [])
    assert decoded_label(word) == name


@pytest.mark.parametrize("word", ["100%", "%zz", "a%41", "%2", "café"])
def test_names_that_only_look_encoded_are_left_alone(word: str) -> None:
    assert decoded_label(word) == word


def test_a_name_of_one_format_is_not_written_into_the_other() -> None:
    spectrum = parse_tcm(TCM.splitlines(), "x.tcm")
    assert list(render_spectra(spectrum))[1:] == [
        ".$org.foo.Bar#baz:12:1:7\n",
        ".$org.foo.Bar:qux#:0\n",
        ".$a%20name%20with%20spaces#:0\n",
    ]


def test_only_units_are_written() -> None:
    block = Entity(EntityKind.BLOCK, Location("f.c", 1))
    statement = Entity(EntityKind.STATEMENT, Location("f.c", 2, function="f"), block=0)
    counts = sparse.csr_array(np.array([[4, 5]], np.int64))
    spectrum = spectrum_of([Run("t", failed=True)], [block, statement], counts)
    assert "".join(render_tcm(spectrum)).endswith("#uuts\nf.c:f:2\n\n#matrix\n0 5\n")


GOOD_TESTS = "#tests\na PASSED\nb FAILED\n\n"
GOOD_UNITS = "#uuts\nf.c:f:1\nf.c:f:2\n\n"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no section #tests"),
        (GOOD_TESTS + "#matrix\n\n\n", "line 5: the matrix comes before"),
        (GOOD_TESTS + GOOD_UNITS, "no section #matrix"),
        (GOOD_TESTS + GOOD_TESTS, "line 5: a second section #tests"),
        ("PK\x03\x04\n", "line 1: .* is no section"),
        ("#tests\na\n", "line 2: expected a test's name"),
        ("#tests\na MAYBE\n", "line 2: expected a test's name"),
        (GOOD_TESTS + GOOD_UNITS + "#matrix\n0 1\n", "ends after 1 matrix lines; it has 2 tests"),
        (GOOD_TESTS + GOOD_UNITS + "#matrix\n0 1\n\n1 1\n", "line 12: more matrix lines"),
        (GOOD_TESTS + GOOD_UNITS + "#matrix\n0\n\n", "line 10: .* pairs"),
        (GOOD_TESTS + GOOD_UNITS + "#matrix\n0 x\n\n", "line 10: .* whole numbers only"),
        (GOOD_TESTS + GOOD_UNITS + "#matrix\n0 1.5\n\n", "line 10: .* whole numbers only"),
        (GOOD_TESTS + GOOD_UNITS + f"#matrix\n0 {10**30}\n\n", "line 10: .* whole numbers only"),
        (GOOD_TESTS + GOOD_UNITS + "#matrix\n2 1\n\n", "line 10: .* from 0 to 1"),
        (GOOD_TESTS + GOOD_UNITS + "#matrix\n-1 1\n\n", "line 10: .* from 0 to 1"),
        (GOOD_TESTS + GOOD_UNITS + "#matrix\n0 -1\n\n", "line 10: .* negative"),
        (GOOD_TESTS + GOOD_UNITS + "#matrix\n0 1 0 1\n\n", "line 10: .* twice"),
    ],
)
def test_what_is_not_tcm(text: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=f"x.tcm.*{complaint}"):
        parse_tcm(text.split("\n")[:-1] if text else [], "x.tcm")


@pytest.mark.parametrize(
    ("tests", "spectra", "matrix", "complaint"),
    [
        (None, ["name", "no element"], [], "spectra.csv, line 2: expected package"),
        (["a,MAYBE,,"], GZOLTAR_SPECTRA, [], "tests.csv, line 1: expected a test's name"),
        (None, GZOLTAR_SPECTRA, ["1 0 1"], "matrix.txt, line 1: expected \\+ or -"),
        (None, GZOLTAR_SPECTRA, [""], "matrix.txt, line 1: expected \\+ or -"),
        (None, GZOLTAR_SPECTRA, ["1 0 -"], "line 1: 2 elements, spectra.csv has 3"),
        (None, GZOLTAR_SPECTRA, ["1 0 2 -"], "line 1: an element is marked 0 or 1"),
        (None, GZOLTAR_SPECTRA, ["1 0 10 -"], "line 1: an element is marked 0 or 1"),
        (None, GZOLTAR_SPECTRA, ["1 0 é -"], "line 1: an element is marked 0 or 1"),
        (GZOLTAR_TESTS, GZOLTAR_SPECTRA, ["1 0 1 +", "0 0 1 +"], "disagree on whether my.AppTest#"),
        (GZOLTAR_TESTS, GZOLTAR_SPECTRA, ["1 0 1 -"], "has 1 lines, tests.csv 2 tests"),
        (GZOLTAR_TESTS[:2], GZOLTAR_SPECTRA, GZOLTAR_MATRIX, "line 2: there are only 1 tests"),
    ],
)
def test_what_is_not_a_gzoltar_report(
    tests: list[str] | None, spectra: list[str], matrix: list[str], complaint: str
) -> None:
    with pytest.raises(UsageError, match=f"sfl/.*{complaint}"):
        parse_gzoltar(tests, spectra, matrix, "sfl")


def _refusal(lines: list[str]) -> str:
    try:
        parse_tcm(lines, "x.tcm")
    except UsageError as refusal:
        return str(refusal)
    return "x.tcm was read."


@timeless
@given(st.text())
def test_no_text_makes_the_tcm_reader_stumble(text: str) -> None:
    assert _refusal(text.split("\n")).startswith("x.tcm")
    after_a_good_start = GOOD_TESTS + GOOD_UNITS + "#matrix\n" + text
    assert _refusal(after_a_good_start.split("\n")).startswith("x.tcm")


def test_files_on_disk_in_both_formats(tmp_path: Path) -> None:
    spectrum = parse_gzoltar(GZOLTAR_TESTS, GZOLTAR_SPECTRA, GZOLTAR_MATRIX, "sfl")
    write_matrix(spectrum, tmp_path / "m.tcm")
    (tmp_path / "sfl").mkdir()
    write_matrix(spectrum, tmp_path / "sfl")
    assert sorted(path.name for path in (tmp_path / "sfl").iterdir()) == [
        "matrix.txt",
        "spectra.csv",
        "tests.csv",
    ]
    for path in ("m.tcm", "sfl", "sfl/matrix.txt"):
        again = read_matrix(tmp_path / path)
        assert again.executed.toarray().tolist() == [[1, 0, 1], [0, 0, 1]]
        assert again.runs == spectrum.runs
    (tmp_path / "sfl" / "tests.csv").unlink()
    assert read_matrix(tmp_path / "sfl").runs[0].name == "t1"


def test_bytes_that_are_not_utf_8_and_carriage_returns(tmp_path: Path) -> None:
    path = tmp_path / "m.tcm"
    path.write_bytes(b"#tests\r\nt\xff FAILED\r\n\r\n#uuts\r\n\xe9.c:f:1\r\n\r\n#matrix\r\n0 1\r\n")
    spectrum = read_matrix(path)
    assert (spectrum.runs[0].name, spectrum.entities[0].location.file) == ("t\udcff", "\udce9.c")
    write_matrix(spectrum, path)
    assert read_matrix(path).entities[0].location.file == "\udce9.c"


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("nowhere.tcm", "cannot be read: No such file"),
        ("empty-directory", "cannot be read: No such file"),
        ("nothing.tcm", "no tests or no elements"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, path: str, complaint: str) -> None:
    (tmp_path / "empty-directory").mkdir()
    (tmp_path / "nothing.tcm").write_text("#tests\n\n#uuts\n\n#matrix\n")
    with pytest.raises(UsageError, match=complaint):
        read_matrix(tmp_path / path)


def test_what_cannot_be_written(tmp_path: Path) -> None:
    spectrum = parse_gzoltar(GZOLTAR_TESTS, GZOLTAR_SPECTRA, GZOLTAR_MATRIX, "sfl")
    with pytest.raises(UsageError, match="cannot be written: No such file"):
        write_matrix(spectrum, tmp_path / "missing" / "m.tcm")
    empty = spectrum_of([], [], sparse.csr_array((0, 0), dtype=np.int64))
    with pytest.raises(UsageError, match="would be empty"):
        write_matrix(empty, tmp_path / "m.tcm")
