"""``afterd rank`` on a matrix, without any repository."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from afterd.cli.rank import command
from afterd.cli.rank_text import SHOWN
from afterd.errors import UsageError

TCM = """\
#tests
t1 PASSED
t2 FAILED assertion
t3 PASSED

#uuts
src/a.c:f:3
src/a.c:f:4
weird.Name

#matrix
0 1 2 1
0 2 1 1
0 1
"""


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    path = tmp_path / "m.tcm"
    path.write_text(TCM)
    return path


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def ranked(*arguments: str | Path) -> Any:  # noqa: ANN401  # a JSON document
    result = run(*arguments, "--format", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_json_says_everything(matrix: Path) -> None:
    answer = ranked("--import", matrix, "--technique", "ochiai")
    assert {key: answer[key] for key in ("schema", "tests", "failed", "entities")} == {
        "schema": 1,
        "tests": 3,
        "failed": 1,
        "entities": 3,
    }
    (ranking,) = answer["rankings"]
    assert ranking["technique"] == "ochiai"
    assert [(place["rank"], place["line"]) for place in ranking["ranking"]] == [
        (1, 4),
        (2, 3),
        (3, None),
    ]
    assert ranking["ranking"][0] == {
        "rank": 1,
        "score": 1.0,
        "confidence": None,
        "file": "src/a.c",
        "line": 4,
        "function": "f",
        "kind": "statement",
        "name": None,
    }
    assert ranking["ranking"][2]["name"] == "weird.Name"


def test_several_techniques_in_the_order_asked_for(matrix: Path) -> None:
    answer = ranked(
        "--import", matrix, "--technique", "tarantula", "--technique", "dstar",
        "--technique", "tarantula",
    )  # fmt: skip
    tarantula, dstar = answer["rankings"]
    assert (tarantula["technique"], dstar["technique"]) == ("tarantula", "dstar")
    assert [place["confidence"] for place in tarantula["ranking"]] == [1.0, 1.0, 0.5]
    assert dstar["ranking"][0]["score"] == sys.float_info.max


def test_all_leaves_out_what_the_matrix_cannot_give(matrix: Path) -> None:
    answer = ranked("--import", matrix, "--technique", "all")
    assert [ranking["technique"] for ranking in answer["rankings"]] == [
        "tarantula", "jaccard", "ochiai", "sbi", "dstar", "op2", "barinel",
    ]  # fmt: skip
    assert answer["lacking"]["blockrank"] == "block and edge counts"
    assert answer["lacking"]["cbi"] == "counts of predicate outcomes"


def test_a_technique_asked_for_by_name_says_what_it_lacks(matrix: Path) -> None:
    result = run("--import", matrix, "--technique", "blockrank")
    assert isinstance(result.exception, UsageError)
    assert str(result.exception) == (
        "blockrank needs block and edge counts, which this matrix does not have."
    )


def test_what_one_technique_lacks_is_said_beside_what_the_others_rank(matrix: Path) -> None:
    result = run("--import", matrix, "--technique", "blockrank", "--technique", "ochiai")
    assert "by ochiai" in result.stdout
    assert "blockrank left out: it needs block and edge counts" in result.stdout


def test_text_shows_places_names_and_what_is_missing(matrix: Path) -> None:
    lines = run("--import", matrix, "--technique", "all").stdout.splitlines()
    assert lines[0] == "3 tests, 1 failed, 3 entities"
    assert any(line.split() == ["1", "1", "src/a.c:4", "f"] for line in lines)
    assert "cp left out: it needs block and edge counts" in lines


def test_hostile_names_do_not_reach_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "m.tcm"
    path.write_text("#tests\nt FAILED\n\n#uuts\n[red]\x1b[31m.c\n\n#matrix\n0 1\n")
    output = run("--import", path).stdout
    assert "[red]\\x1b[31m.c" in output
    assert "\x1b" not in output


def test_a_long_text_ranking_is_cut_but_not_within_a_tie(tmp_path: Path) -> None:
    path = tmp_path / "m.tcm"
    units = "\n".join(f"f.c:f:{line}" for line in range(1, 41))
    half = " ".join(f"{unit} 1" for unit in range(15))
    whole = " ".join(f"{unit} 1" for unit in range(40))
    path.write_text(f"#tests\nr FAILED\ng PASSED\n\n#uuts\n{units}\n\n#matrix\n{half}\n{whole}\n")
    output = run("--import", path).stdout
    assert "f.c:15 f" in output
    assert "f.c:16 f" not in output
    assert "25 more, with --format json" in output
    assert SHOWN == 20


def test_nothing_failed_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "m.tcm"
    path.write_text("#tests\nt PASSED\n\n#uuts\nf.c:f:1\n\n#matrix\n0 1\n")
    assert "No test failed" in run("--import", path).stdout
    assert ranked("--import", path)["rankings"] == []


def test_export_converts_between_the_formats(matrix: Path, tmp_path: Path) -> None:
    (tmp_path / "sfl").mkdir()
    run("--import", matrix, "--export", tmp_path / "sfl")
    back = ranked("--import", tmp_path / "sfl", "--export", tmp_path / "back.tcm")
    assert back["rankings"][0]["ranking"][0]["file"] == "src/a.c"
    assert "src/a.c:f:3\nsrc/a.c:f:4\n" in (tmp_path / "back.tcm").read_text()


def test_a_bad_file_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "m.tcm"
    path.write_text("no matrix\n")
    error = run("--import", path).exception
    assert isinstance(error, UsageError)
    assert "line 1" in str(error)


def test_an_unknown_technique_is_a_usage_error(matrix: Path) -> None:
    assert run("--import", matrix, "--technique", "magic").exit_code == 2
