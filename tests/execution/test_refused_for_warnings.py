"""A build that found nothing but warnings, which are errors there."""

from __future__ import annotations

import pytest

from afterd.execution.failures.native import refused_for_warnings

UNUSED = "vm.c:18:9: error: variable ‘t’ set but not used [-Werror=unused-but-set-variable]"
CLANG = "vm.c:18:9: error: variable 't' set but not used [-Werror,-Wunused-but-set-variable]"
RETURN = "types.c:619:1: error: control reaches end of non-void function [-Werror=return-type]"
HARD = "vm.c:20:2: error: ‘t’ undeclared (first use in this function)"
LINK = "/usr/bin/ld: vm.c:399: undefined reference to `track'"
RUST = """\
error: unused variable: `n`
 --> src/lib.rs:1:1
 = note: `#[deny(unused_variables)]` implied by `#[deny(warnings)]`
"""


@pytest.mark.parametrize(
    ("said", "warning"),
    [
        (f"vm.c: In function ‘f’:\n{UNUSED}\ncc1: all warnings being treated as errors", UNUSED),
        (f"{CLANG}\n1 error generated.", CLANG),
        (f"{UNUSED}\n{CLANG}", UNUSED),
        (f"{UNUSED}\n{HARD}", ""),
        (f"{UNUSED}\n{RETURN}", ""),
        (f"{HARD}\n", ""),
        (f"{UNUSED}\n{LINK}", ""),
        ("vm.c:1:1: warning: unused [-Wunused]\nmake: *** [prog] Error 1", ""),
        ("", ""),
        (RUST, "unused variable: `n` (#[deny(warnings)])"),
        (f"{RUST}error[E0425]: cannot find value `m` in this scope\n", ""),
    ],
)
def test_only_what_found_nothing_else_at_fault_is_refused_for_a_warning(
    said: str, warning: str
) -> None:
    assert refused_for_warnings(said) == warning
