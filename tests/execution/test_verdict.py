"""The exit contract of `git bisect run`, with real processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from afterd.execution.environment import scrubbed_environment
from afterd.execution.failures.values import shown_lines
from afterd.execution.process import Command
from afterd.execution.sandbox import run
from afterd.execution.verdict import judge, unrunnable_reason
from afterd.limits import ProcessLimits
from afterd.model.outcome import FailureKind, Unresolved, Verdict

PASS, FAIL, UNRESOLVED = Verdict.PASS, Verdict.FAIL, Verdict.UNRESOLVED


@pytest.mark.parametrize(
    ("script", "verdict", "reason", "kind"),
    [
        ("exit 0", PASS, None, None),
        ("exit 1", FAIL, None, FailureKind.EXIT),
        ("exit 124", FAIL, None, FailureKind.EXIT),
        ("exit 125", UNRESOLVED, Unresolved.UNTESTABLE, None),
        ("exit 126", FAIL, None, FailureKind.EXIT),
        ("exit 127", FAIL, None, FailureKind.EXIT),
        ("exit 128", UNRESOLVED, Unresolved.ABORTED, None),
        ("exit 255", UNRESOLVED, Unresolved.ABORTED, None),
        ("kill -ABRT $$", FAIL, None, FailureKind.CRASH),
        ("sh -c 'kill -ABRT $$'; exit $?", FAIL, None, FailureKind.CRASH),
        ("sh -c 'kill -SEGV $$'; exit $?", FAIL, None, FailureKind.CRASH),
        ("sh -c 'kill -FPE $$'; exit $?", FAIL, None, FailureKind.CRASH),
        ("sh -c 'kill -PIPE $$'; exit $?", UNRESOLVED, Unresolved.ABORTED, None),
        ("kill -PIPE $$", FAIL, None, FailureKind.CRASH),
        ("kill -KILL $$", UNRESOLVED, Unresolved.LOST, None),
        ("kill -TERM $$", UNRESOLVED, Unresolved.KILLED, None),
        ("sleep 30", FAIL, None, FailureKind.HANG),
        ("head -c 100000 /dev/zero", UNRESOLVED, Unresolved.OUTPUT, None),
    ],
)
def test_each_way_to_end(
    tmp_path: Path,
    script: str,
    verdict: Verdict,
    reason: Unresolved | None,
    kind: FailureKind | None,
) -> None:
    limits = ProcessLimits(timeout=1.0, output=50_000, grace=0.1)
    result = run(
        Command(("sh", "-c", script), tmp_path, scrubbed_environment()), limits, scratch=tmp_path
    )
    outcome = judge(result, "t", ())
    assert (outcome.verdict, outcome.reason) == (verdict, reason)
    assert (outcome.signature.kind if outcome.signature else None) is kind
    assert outcome.test_seconds > 0.0


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("no-such-test",), "The test command cannot be started: no-such-test: No such file"),
        (("sh", "-c", "./no-such-test"), "exited with status 127"),
        (("sh", "-c", "no-such-test --all"), "exited with status 127"),
        (("sh", "-c", "exit 127"), "it printed nothing"),
        (("sh", "-c", "/etc/passwd"), "exited with status 126"),
        (("sh", "-c", "echo 3 of 5 failed; exit 127"), ""),
        (("sh", "-c", "echo x: not found >&2; exit 1"), ""),
        (("true",), ""),
    ],
)
def test_a_command_that_is_not_there(tmp_path: Path, argv: tuple[str, ...], said: str) -> None:
    result = run(
        Command(argv, tmp_path, scrubbed_environment()),
        ProcessLimits(timeout=20.0),
        scratch=tmp_path,
    )
    sentence = unrunnable_reason(result, argv)
    assert said in sentence
    assert bool(sentence) == bool(said)


def test_the_frames_that_an_exception_came_through_are_kept(tmp_path: Path) -> None:
    """What a failure's report shows was looked for in its last twenty lines: those of one frame."""
    shown = "\n".join(f"ops.py:{n}: in part{n}\n" + "    text\n" * 12 for n in range(1, 4))
    report = f"{shown}\nops.py:9: ValueError\n" + "1 failed\n" * 3
    script = f"cat <<'end'\n{report}end\nexit 1"
    command = Command(("sh", "-c", script), tmp_path, scrubbed_environment())
    outcome = judge(run(command, ProcessLimits(timeout=20.0), scratch=tmp_path), "t", ())
    assert [place.line for place in shown_lines(outcome.detail, {"ops.py"})] == [1, 2, 3, 9]
    assert outcome.detail.count("ops.py:3") == 1


@pytest.mark.parametrize("where", ["", "../../away/", "/away/"])
def test_frames_are_kept_by_whichever_name_pytest_gives_them(tmp_path: Path, where: str) -> None:
    """Pytest names a file outside of the tree from the root where that is shorter: of a test beside its repository
    nothing was known that the same test a folder further away told (django-axes, 19 runs here and 218 there).
    """
    packages = "/home/me/.venv/lib/python3.9/site-packages/run.py:7: in run\n"
    own = f"{where}test_key.py:25: \n"
    shown = packages + own + "    text\n" * 20 + "ops.py:3: TypeError\n"
    script = f"cat <<'end'\n{shown}end\nexit 1"
    command = Command(("sh", "-c", script), tmp_path, scrubbed_environment())
    outcome = judge(run(command, ProcessLimits(timeout=20.0), scratch=tmp_path), "t", ())
    assert outcome.detail.startswith(own)
