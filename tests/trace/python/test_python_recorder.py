"""The window, the trace file, threads, forks, and what may not happen while recording."""

from __future__ import annotations

import gc
import json
import sys
import threading
import weakref
from enum import Enum
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from python_pairs import traced_pair

from afterd.errors import TraceError
from afterd.trace.python.read.tracefile import read
from afterd.trace.python.read.values import Comparison, identity, render, truth
from afterd.trace.python.record import tracefile as runtime_tracefile
from afterd.trace.python.record.describe import CUT, ITEMS, WHOLE, Describer, TypeTable
from afterd.trace.python.record.recorder import CHUNK, Recorder
from afterd.trace.python.record.rows import Kind, site

SCRIPT = (sys.executable, "main.py")


def test_window_keeps_both_ends_and_counts_the_rest() -> None:
    """Memory is bounded; the chunks say which rows they are and which frames were open."""
    recorder = Recorder(head=1, tail=2)
    enter, branch = recorder.functions["@e"], recorder.functions["@b"]
    enter(site(1, 0, Kind.ENTER), ())
    for _ in range(5 * CHUNK // 2):
        branch(site(1, 1, Kind.TRUE))
    recording = recorder.stop()
    chunks = recording.chunks()
    assert chunks[0].first == 0
    assert len(chunks) == 3
    assert recording.total == 5 * CHUNK // 2 + 1
    assert chunks[-1].first + len(chunks[-1].entries) // 2 == recording.total
    assert [frame[0] for frame in chunks[-1].frames] == [site(1, 0, Kind.ENTER)]


@pytest.mark.parametrize(
    "loading",
    [
        'spec = importlib.util.spec_from_file_location("level", "scripts/level.py")\n'
        "    level = importlib.util.module_from_spec(spec)\n"
        "    spec.loader.exec_module(level)",
        'level = importlib.machinery.SourceFileLoader("level", "scripts/level.py").load_module()',
        'level = types.SimpleNamespace(**runpy.run_path("scripts/level.py"))',
    ],
)
def test_a_module_that_is_loaded_by_its_path_is_recorded(tmp_path: Path, loading: str) -> None:
    """Open vSwitch's checkpatch is a script, and its test loads it so: nothing of it was recorded."""
    test = f"""\
import importlib.machinery
import importlib.util
import runpy
import types

def test_level():
    {loading}
    assert level.check(1) == "good"
"""
    good = {
        "scripts/level.py": "def check(x):\n    return 'bad' if x > 1 else 'good'\n",
        "test_level.py": test,
    }
    bad = {**good, "scripts/level.py": good["scripts/level.py"].replace(">", ">=")}
    execution = traced_pair(tmp_path, good, bad)
    assert execution.executed_changes() == ["c1"]


def test_file_round_trip(tmp_path: Path) -> None:
    """Sites and values come back; equal values of different types stay apart."""
    recorder = Recorder(4, 4)
    value = recorder.functions["@v"]
    values = [
        1,
        True,
        1.0,
        "1",
        b"1",
        None,
        (1, True),
        -0.0,
        0.0,
        2**70,
        "\ud800",
        [1, [2]],
        1 << 100_000,
    ]
    for number, item in enumerate(values):
        value(site(7, number, Kind.VALUE), item)
    runtime_tracefile.write(tmp_path, recorder.stop(), {"modules": []})
    raw = read(next(tmp_path.glob("*.json")))
    (span,) = raw.spans
    assert [s >> 4 & 0xFFFFF for s in span.sites] == list(range(len(values)))
    got = [raw.values[number] for number in span.values]
    assert [repr(item) for item in got[:6]] == ["1", "True", "1.0", "'1'", "b'1'", "None"]
    assert got[6] == ("t", 1, True)
    assert [repr(item) for item in got[7:10]] == ["-0.0", "0.0", str(2**70)]
    assert got[10] == "\ud800"
    assert got[11][0] == "l"
    assert got[12][0] == "B"


@pytest.mark.parametrize("damage", ["empty", "truncated", "text"])
def test_damaged_trace_is_a_sentence(damage: str, tmp_path: Path) -> None:
    """A file that is not one of ours raises TraceError, naming it."""
    recorder = Recorder(1, 1)
    recorder.functions["@m"](site(1, 1, Kind.MARK))
    runtime_tracefile.write(tmp_path, recorder.stop(), {"modules": []})
    header = next(tmp_path.glob("*.json"))
    if damage == "truncated":
        header.with_suffix(".rows").write_bytes(b"\0" * 8)
    else:
        header.write_text("" if damage == "empty" else "[1]")
    with pytest.raises(TraceError, match=r"trace-.*cannot be read"):
        read(header)


class Liar:
    """Everything about it runs code, and every bit of code fails."""

    @property  # type: ignore[misc] # that is the point
    def __class__(self) -> type:
        raise AssertionError("asked for its class")

    __hash__ = None  # type: ignore[assignment] # that is the point

    def __repr__(self) -> str:
        raise AssertionError("asked for its repr")

    def __eq__(self, _: object) -> bool:
        raise AssertionError("compared")

    def __getattribute__(self, name: str) -> object:
        raise AssertionError(f"asked for {name}")


class Colour(Enum):
    RED = 1


def test_describing_runs_none_of_the_program_s_code() -> None:
    """No repr, no comparison, no property."""
    describe = Describer(TypeTable()).describe
    assert describe(Liar())[0] == "o"
    assert describe([Liar()])[3][0] == "o"
    assert describe(Colour.RED)[3] == "RED"
    assert describe(KeyError("k"))[3] == ("t", "k")


def test_recording_keeps_nothing_alive() -> None:
    """A test that waits for a collection must see it."""
    recorder = Recorder(4, 4)

    class Local:
        pass

    item = Local()
    recorder.functions["@v"](site(1, 1, Kind.VALUE), item)
    dead, dead_class = weakref.ref(item), weakref.ref(Local)
    del item, Local
    gc.collect()
    assert dead() is None
    assert dead_class() is None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=9),
        lambda i: (
            st.lists(i, max_size=4)
            | st.dictionaries(st.text(max_size=3), i, max_size=3)
            | st.tuples(i, i)
        ),
        max_leaves=12,
    )
)
def test_descriptions_compare_like_values(value: object) -> None:
    """Equal to itself in another run; rendered within the limit; truth as Python has it."""
    types = TypeTable()
    described = Describer(types).describe(value)
    comparison = Comparison(types.rows, types.rows)
    assert comparison.equal(described, Describer(types).describe(value))
    assert not comparison.equal(described, Describer(types).describe([value, 0]))
    assert len(render(described, types.rows)) <= 120
    assert truth(described) is bool(value)
    assert (identity(described) is None) == (not isinstance(value, (list, dict)))


def test_long_values_are_cut() -> None:
    """Big containers and strings cost little."""
    describe = Describer(TypeTable()).describe
    assert describe(list(range(1000)))[-1] == CUT
    assert len(describe(list(range(1000)))) == 3 + ITEMS + 1
    assert describe("x" * 10_000)[:2] == ("S", 10_000)


def test_threads_are_kept_apart() -> None:
    """From the second thread on, each row says whose it is."""
    recorder = Recorder(4, 4)
    recorder.follow_threads()
    other = threading.Thread(target=lambda: __builtins__["@m"](site(1, 2, Kind.MARK)))  # type: ignore[index] # a dict in an imported module
    other.start()
    other.join()
    sites = [entry for chunk in recorder.stop().chunks() for entry in chunk.entries[::2]]
    assert Kind.THREAD in sites
    assert site(1, 2, Kind.MARK) in sites


def test_threads_are_noticed_and_forks_are_followed(tmp_path: Path) -> None:
    """What the threads did is said to be kept apart; the parent's trace is whole, with what the fork did."""
    bad = """\
        import multiprocessing, threading
        def double(x): return 2 * x
        if __name__ == "__main__":
            threading.Thread(target=double, args=(1,)).start()
            forked = multiprocessing.get_context("fork").Process(target=double, args=(2,))
            forked.start()
            forked.join()
            assert forked.exitcode == 5
        """
    execution = traced_pair(tmp_path, {"main.py": "pass\n"}, {"main.py": bad}, SCRIPT)
    (failure,) = execution.failures()
    assert failure.text == "assert forked.exitcode == 5"
    notes = " ".join(execution.notes())
    assert "threads" in notes
    assert "processes" not in notes
    doubled = [node for node in map(execution.trace.node, range(len(execution.trace))) if node]
    assert sum(node.type == "Return" for node in doubled) == 2


def test_a_default_is_evaluated_outside_of_its_function(tmp_path: Path) -> None:
    """A default's row made an activation of the function that nobody had called, below which its first call stood."""
    bad = """\
        def f(a: int = 1, *, b=len("x")):
            return a + b
        g = lambda c=len("yz"): c
        assert f() + g() == 5
        """
    trace = traced_pair(tmp_path, {"main.py": "pass\n"}, {"main.py": bad}, SCRIPT).trace
    module, *called = trace.frames
    assert [frame.node.type for frame in called] == ["FunctionDef", "Lambda"]
    assert all(frame.parent is module for frame in called)


def test_nothing_traced_is_a_sentence(tmp_path: Path) -> None:
    """Isolated mode shuts the tracer out, and the message says so."""
    with pytest.raises(TraceError, match="Nothing was traced"):
        traced_pair(tmp_path, {}, {}, (sys.executable, "-I", "-c", "pass"))


def test_header_says_what_ran(tmp_path: Path) -> None:
    """Modules with their paths, the interpreter, the arguments."""
    execution = traced_pair(tmp_path, {"main.py": ""}, {"main.py": "x = 1\n"}, SCRIPT)
    header = json.loads(execution.trace.raw.path.read_text())
    assert [module[1] for module in header["modules"]] == ["main.py"]
    assert header["python"][:2] == list(sys.version_info[:2])


def test_the_lines_that_ran_are_read_without_the_trees(tmp_path: Path) -> None:
    """Of twisted's 600 modules the trees were read to know the lines: three seconds."""
    bad = """\
        def chosen(x):
            match x:
                case 1 | 2:
                    return "few"
                case _:
                    return "many"
        assert chosen(3) == "few"
        """
    execution = traced_pair(tmp_path, {"main.py": "pass\n"}, {"main.py": bad}, SCRIPT)
    trace = execution.trace
    ran = trace.lines()
    by_nodes = {
        node.line
        for node, kind in map(trace.decode, set(trace.sites))
        if node is not None and kind is not Kind.EXIT and node.line
    }
    assert ran == {"main.py": frozenset(by_nodes)}
    assert {2, 6, 7} <= by_nodes
    assert 4 not in by_nodes


def test_lines_that_are_gone_are_a_sentence(tmp_path: Path) -> None:
    trace = traced_pair(tmp_path, {"main.py": ""}, {"main.py": "x = 1\n"}, SCRIPT).trace
    for table in trace.cache.glob("*.lines"):
        table.unlink()
    with pytest.raises(TraceError, match=r"The lines of main\.py cannot be read"):
        trace.lines()


@pytest.mark.parametrize(
    "text",
    [
        "cd . && PYTHONPATH=lib {python} main.py",
        "PATH=/usr/bin:$PATH PYTHONPATH='lib' {python} main.py",
        "export PYTHONPATH=lib:$PYTHONPATH; {python} main.py",
    ],
)
def test_a_shell_that_sets_the_import_path_hides_no_recorder(tmp_path: Path, text: str) -> None:
    """Conan: nothing was traced, as what the command set for itself took the place of what afterd had set."""
    good, bad = ({"main.py": "from own import f\nassert f() == 1\n"} for _ in range(2))
    good["lib/own.py"], bad["lib/own.py"] = (f"def f(): return {value}\n" for value in (1, 2))
    command = ("sh", "-c", text.format(python=sys.executable))
    assert traced_pair(tmp_path, good, bad, command).failures()


def test_long_texts_are_kept_whole_while_there_is_room() -> None:
    """Each once, beside the rows; of what is too long, or one too many, both ends are all that is known."""
    describer = Describer(TypeTable())
    text, longest = "x" * 10_000, "y" * WHOLE
    for value in (text, "".join(text), longest, longest + "y", b"z" * 500):
        describer.describe(value)
    assert sorted(describer.texts.values()) == [text, longest, "z" * 500]
    describer.room = 10
    describer.describe("a" * 500)
    assert len(describer.texts) == 3
