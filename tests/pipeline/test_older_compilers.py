"""A compiler that refuses what the one took that the project was written against."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from pipeline_runs import afterd, repository

pytestmark = pytest.mark.skipif(
    None in (shutil.which("gcc"), shutil.which("make")), reason="no gcc, or no make"
)

MAKEFILE = """\
CC = gcc
CFLAGS = -g -Wall -Werror=unused-variable -Werror
prog: amount.c
\t$(CC) $(CFLAGS) -o prog amount.c
check: prog
\t./prog
"""
SOURCE = (
    "static int amount(void) { int unused; return 3; }\nint main(void) { return amount() != 3; }\n"
)


def test_a_warning_that_is_an_error_is_let_pass_and_said(tmp_path: Path) -> None:
    """Two of three old revisions of C projects did not build with today's gcc, and that was all of the answer."""
    files = {".gitignore": "prog\n", "Makefile": MAKEFILE, "amount.c": SOURCE}
    bad = {"amount.c": SOURCE.replace("return 3;", "return 4;")}
    where = repository(tmp_path / "r", files, bad)
    done = afterd("explain", "HEAD~1..HEAD", "--format", "json", cwd=where)
    assert done.status == 0, done.err + done.out
    [found] = json.loads(done.out)["explanations"]
    assert [change["file"] for change in found["root"]] == ["amount.c"]
    [note] = [note for note in found["remarks"] if "-Werror" in note]
    assert "unused variable" in note
    assert "older_compilers" in note
    assert "building again as older compilers would" in done.err


def test_what_is_half_undone_is_no_error_for_what_nobody_uses_then(tmp_path: Path) -> None:
    """Ucode is built with -Wall -Werror: of its rewritten numbers hundreds of parts were refused for a variable that is
    set and not used, or a function that nobody calls, and one of them alone repairs.
    """
    makefile = "prog: amount.c\n\tgcc -g -Wall -Werror -o prog amount.c\ncheck: prog\n\t./prog\n"
    bad = """\
static int amount(int n) { return n + 1; }
int main(void)
{
    int n = 3, m = 0;
    return amount(n) + m != 3;
}
"""
    good = bad.replace("static int amount(int n) { return n + 1; }\n", "").replace("amount(n)", "n")
    bad = bad.replace("m = 0;", "m = 0; /* none */")
    files = {".gitignore": "prog\n", "Makefile": makefile, "amount.c": good}
    where = repository(tmp_path / "r", files, {"amount.c": bad})
    done = afterd("explain", "HEAD~1..HEAD", "--format", "json", cwd=where)
    assert done.status == 0, done.err + done.out
    [found] = json.loads(done.out)["explanations"]
    assert [change["patch"].splitlines()[-1] for change in found["root"]] == [
        "+    return amount(n) + m != 3;"
    ]
    assert not found["auxiliary"]
    [note] = [note for note in found["remarks"] if "-Werror" in note]
    assert "with a part of the changes undone this one refuses" in note


def test_a_variable_of_c_in_a_header_is_of_all_objects_as_it_was(tmp_path: Path) -> None:
    """GCC 10 and clang 11 refuse it; the program is traced all the same."""
    makefile = "prog: a.c b.c v.h\n\tgcc -g -o prog a.c b.c\ncheck: prog\n\t./prog\n"
    files = {
        ".gitignore": "prog\n",
        "Makefile": makefile,
        "v.h": "int total;\n",
        "a.c": '#include "v.h"\nvoid add(void);\nint main(void) { add(); return total != 3; }\n',
        "b.c": '#include "v.h"\nvoid add(void) { total += 3; }\n',
    }
    where = repository(tmp_path / "r", files, {"b.c": files["b.c"].replace("3", "4")})
    done = afterd("explain", "HEAD~1..HEAD", "--format", "json", cwd=where)
    assert done.status == 0, done.err + done.out
    [found] = json.loads(done.out)["explanations"]
    assert [change["file"] for change in found["root"]] == ["b.c"]
    assert found["tree"]["steps"]
    assert any("-fcommon" in note for note in found["remarks"])


def test_another_error_is_told_as_it_is(tmp_path: Path) -> None:
    files = {".gitignore": "prog\n", "Makefile": MAKEFILE, "amount.c": SOURCE}
    where = repository(tmp_path / "r", files, {"amount.c": SOURCE + "int unfinished(\n"})
    done = afterd("explain", "HEAD~1..HEAD", cwd=where)
    assert done.status == 0, done.err + done.out
    assert "the build fails because of" in done.out


@pytest.mark.skipif(shutil.which("cargo") is None, reason="no Cargo")
def test_a_lint_that_is_denied_is_let_pass_in_rust(tmp_path: Path) -> None:
    """Httparse 1.8.0 denies all warnings in its tests, and a Rust of today has one more: "does not build"."""
    text = """\
#![cfg_attr(test, deny(warnings))]
pub fn amount() -> i32 { let unused = 1; 3 }
#[test] fn it() { assert_eq!(amount(), 3); }
"""
    files = {
        ".gitignore": "target\nCargo.lock\n",
        "Cargo.toml": '[package]\nname = "calc"\nversion = "1.0.0"\nedition = "2021"\n',
        "src/lib.rs": text,
    }
    bad = {"src/lib.rs": text.replace("1; 3", "1; 4")}
    where = repository(tmp_path / "r", files, bad)
    done = afterd("explain", "HEAD~1..HEAD", "--format", "json", cwd=where)
    assert done.status == 0, done.err + done.out
    [found] = json.loads(done.out)["explanations"]
    assert "1; 4" in found["root"][0]["patch"]
    [note] = [note for note in found["remarks"] if "older_compilers" in note]
    assert "unused variable: `unused` (#[deny(warnings)])" in note


@pytest.mark.skipif(shutil.which("go") is None, reason="no Go")
def test_what_vet_finds_is_let_pass_in_go(tmp_path: Path) -> None:
    """A test of pflag's prints with a newline too many, and `go test` did not come to it: "does not build"."""
    test = """\
package calc

import (
	"fmt"
	"testing"
)

func TestAmount(t *testing.T) {
	fmt.Println("amount\\n")
	if Amount() != 3 {
		t.Fatalf("amount is %d", Amount())
	}
}
"""
    files = {
        "go.mod": "module example.org/calc\n\ngo 1.12\n",
        "amount.go": "package calc\n\nfunc Amount() int { return 3 }\n",
        "amount_test.go": test,
    }
    where = repository(tmp_path / "r", files, {"amount.go": files["amount.go"].replace("3", "4")})
    done = afterd("explain", "HEAD~1..HEAD", "--format", "json", cwd=where)
    assert done.status == 0, done.err + done.out
    [found] = json.loads(done.out)["explanations"]
    assert [change["file"] for change in found["root"]] == ["amount.go"]
    [note] = [note for note in found["remarks"] if "older_compilers" in note]
    assert "amount_test.go:9:2: fmt.Println arg list ends with redundant newline" in note
