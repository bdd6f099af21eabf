"""A commit that breaks many tests has one answer, where it is one; and each its own, where it is not."""

from __future__ import annotations

import sys
from pathlib import Path

from daemon_repositories import commit, git, made, once, opened, settings, verdicts

from afterd.daemon.arrivals import Wanted
from afterd.daemon.examination import Examined
from afterd.daemon.outbox import artefact
from afterd.model.explanation import Explanation
from afterd.report.comment import comment, visible_part
from afterd.report.received import received_document
from afterd.store.explanations import load

TESTED = (sys.executable, "-m", "pytest", "-q")
CONFIGURED = {"pytest.ini": "[pytest]\n", ".gitignore": "__pycache__\n", "other.py": "a = 1\n"}
MANY = 20
SCALED = "def scale(value):\n    return value * 10\n"
SCALES = "from lib import scale\n\n\n" + "\n\n".join(
    f"def test_{number}():\n    assert scale({number}) == {number * 10}\n"
    for number in range(1, MANY + 1)
)
MOST_RUNS = 2 * MANY
"""Each by itself took nine."""

TWO = "def width():\n    return 3\n\n\ndef height():\n    return 4\n"
OF_TWO = """\
from pathlib import Path

from lib import height, width


def test_area():
    assert width() * height() == 12


def test_height():
    assert height() == 4


def test_now_and_then():
    counter = Path(COUNTER)
    number = int(counter.read_text()) + 1
    counter.write_text(str(number))
    assert number % 2
"""


def answers(where: Path, of: str) -> dict[str, Explanation]:
    """The explanation of each test that has one."""
    found = {each.test: each.explanation_id for each in verdicts(where, of)}
    with opened(where) as reader:
        return {test: load(reader, number) for test, number in found.items() if number is not None}


def test_twenty_tests_that_one_line_broke_have_one_answer_and_one_comment(tmp_path: Path) -> None:
    files = {**CONFIGURED, "lib.py": SCALED, "test_lib.py": SCALES}
    where = made(tmp_path / "r", files)
    once(where, test=TESTED)
    red = commit(where, {"lib.py": SCALED.replace("10", "11"), "other.py": "a = 2\n"})
    once(where, test=TESTED)
    found, said = verdicts(where, red), answers(where, red)
    names = {f"test_lib.py::test_{number}" for number in range(1, MANY + 1)}
    assert {each.test for each in found} == said.keys() == names
    assert {each.kind for each in found} == {"caused"}
    [explanation] = {each.id: each for each in said.values()}.values()
    assert [change.file for change in explanation.root] == ["lib.py"]
    assert {explanation.test, *explanation.also} == names
    with opened(where) as reader:
        [runs] = reader.rows("SELECT sum(tests) AS made FROM run")
    assert int(str(runs["made"])) < MOST_RUNS
    examined = Examined(Wanted(red, "refs/heads/main"), tuple(found), (explanation,))
    written = artefact(settings(where, test=TESTED), examined).encode()
    text = visible_part(comment(received_document(written, "it")))
    lines = [
        line for line in text.splitlines() if "caused by this change – `c1` at `lib.py:2`" in line
    ]
    assert {line.split("`")[1] for line in lines} == names
    assert text.count("git apply") == 1


def test_what_another_line_broke_and_what_is_flaky_have_verdicts_of_their_own(
    tmp_path: Path,
) -> None:
    """``test_area`` needs both lines undone, ``test_height`` one of them, and one passes every other time."""
    counter = tmp_path / "counter"
    counter.write_text("0")
    tests = OF_TWO.replace("COUNTER", repr(str(counter)))
    where = made(tmp_path / "r", {**CONFIGURED, "lib.py": TWO, "test_lib.py": tests})
    once(where, test=TESTED)
    counter.write_text("1")
    lines = TWO.replace("return 3", "return 5").replace("return 4", "return 7")
    red = commit(where, {"lib.py": lines, "other.py": "a = 2\n"})
    once(where, test=TESTED)
    kinds = {each.test.partition("::")[2]: each.kind for each in verdicts(where, red)}
    assert kinds["test_height"] == "caused"
    assert kinds["test_now_and_then"] != "caused"
    said = answers(where, red)
    height = said["test_lib.py::test_height"]
    assert [change.new.start for change in height.root] == [6]
    assert "test_lib.py::test_now_and_then" not in height.also
    assert git("rev-parse", "HEAD", cwd=where) == red
