"""Programs that have functions of the C library's names: theirs are called as ever, and by nobody else."""

from __future__ import annotations

import pytest
from traced_programs import PROGRAMS, Laboratory, run

SOURCES = (PROGRAMS / "library_own_user.c", PROGRAMS / "library_own.c")


@pytest.mark.parametrize("linked", [(), ("-static", "-DFEWER")])
def test_the_recording_calls_no_function_of_the_programs_own(
    laboratory: Laboratory, linked: tuple[str, ...]
) -> None:
    built = laboratory.build("-fno-builtin", *linked, *SOURCES, name=f"own_library{len(linked)}")
    expected = run([built.plain], PROGRAMS)
    assert expected.output.startswith(b"own 10 bytes: seven is 7\nown is 7\nown wxven is 7 after ")
    assert expected.status == 1
    assert run([built.traced], PROGRAMS).behaviour == expected.behaviour
    shown, traces = laboratory.run_traced([built.traced])
    assert shown.behaviour == expected.behaviour, shown.errors
    (process,) = laboratory.processes(traces)
    assert process.recording.end
