"""A statement that raised: what it raised, where that came from, and what the other run did there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from python_pairs import changes_of, compared, one_file, reachable, request_for

from afterd.compare.python.execution import PythonExecution
from afterd.model.trace import NO_EXCEPTION, Alignment, Step, StepKind


def _raising(execution: PythonExecution) -> list[Step]:
    return [step for step in reachable(execution) if step.rendered.startswith("raises ")]


def test_the_failing_statement_raises_and_is_not_the_part_evaluated_last(tmp_path: Path) -> None:
    good = """
        TABLE = {"a": 1}
        def look(name):
            key = name.lower()
            return TABLE[key.strip()]
    """
    bad = good.replace("name.lower()", "name")
    test = "import lib\ndef test():\n    assert lib.look('A ') == 1\n"
    execution = one_file(tmp_path, good, bad, test)
    failed = execution.step(execution.failures()[0].step)
    assert (failed.text, failed.rendered) == ("return TABLE[key.strip()]", "raises KeyError('A')")
    assert failed.green.shown == "return = 1"
    assert "c1" in {change for step in reachable(execution) for change in step.changes}


def test_a_handler_leads_to_the_statement_that_raised(tmp_path: Path) -> None:
    good = """
        def get(box, name):
            try:
                found = getattr(box, spelled(name))
            except AttributeError:
                found = None
            return found
        def spelled(name):
            return name.replace("-", "_")
        class Box:
            some_thing = 7
    """
    bad = good.replace('"-", "_"', '"-", ""')
    test = "import lib\ndef test():\n    assert lib.get(lib.Box(), 'some-thing') == 7\n"
    (raising,) = _raising(one_file(tmp_path, good, bad, test))
    assert raising.text == "found = getattr(box, spelled(name))"
    assert raising.rendered == (
        "raises AttributeError(\"'Box' object has no attribute 'something'\")"
    )
    assert raising.green.shown == "found = 7"


def test_an_exception_comes_from_the_innermost_call_that_it_left(tmp_path: Path) -> None:
    good = """
        def outer(text):
            try:
                return middle(text)
            except ValueError:
                return -1
        def middle(text):
            return inner(text) + 1
        def inner(text):
            check(text)
            return int(text, 16)
        def check(text):
            int(text, 16)
    """
    bad = good.replace("            int(text, 16)", "            int(text, 10)")
    test = "import lib\ndef test():\n    assert lib.outer('ff') == 256\n"
    (raising,) = _raising(one_file(tmp_path, good, bad, test))
    assert (raising.text, raising.changes) == ("int(text, 10)", ("c1",))
    assert raising.green.shown == NO_EXCEPTION


def test_where_only_the_twin_raised_it_is_said(tmp_path: Path) -> None:
    good = """
        def asked(text):
            try:
                value = number(text)
            except ValueError:
                value = 0
            return value
        def number(text):
            if len(text) > 1:
                raise ValueError(text)
            return int(text)
    """
    bad = good.replace("> 1", "> 2")
    test = "import lib\ndef test():\n    assert lib.asked('12') == 0\n"
    execution = one_file(tmp_path, good, bad, test)
    returned = [step for step in reachable(execution) if step.text == "return int(text)"]
    assert [step.green.shown for step in returned] == ["raises ValueError('12')"]


def test_the_round_of_a_loop_that_raised_is_held_against_the_same_round(tmp_path: Path) -> None:
    good = """
        TABLE = {"a": 1, "b": 2}
        def total(names):
            found = 0
            for name in names:
                found += TABLE[short(name)]
            return found
        def short(name):
            return name[:1]
    """
    bad = good.replace("name[:1]", "name[:1] if name < 'b' else name")
    test = "import lib\ndef test():\n    assert lib.total(['aa', 'bb']) == 3\n"
    execution = one_file(tmp_path, good, bad, test)
    failed = execution.step(execution.failures()[0].step)
    assert failed.rendered == "raises KeyError('bb')"
    assert (failed.green.alignment, failed.green.shown) == (Alignment.DIFFERENT, "found = 3")


def test_another_exception_that_a_caller_handles_is_no_end_of_a_call(tmp_path: Path) -> None:
    good = """
        def asked(text):
            try:
                return int(text)
            except ValueError:
                return told(text)
        def told(text):
            return text.lower()
    """
    bad = good.replace("text.lower()", "text.upper()")
    test = "import lib\ndef test():\n    assert lib.asked('aB') == 'ab'\n"
    execution = one_file(tmp_path, good, bad, test)
    assert "c1" in {change for step in reachable(execution) for change in step.changes}
    assert {step.text for step in _raising(execution)} <= {"return int(text)"}


def test_a_statement_over_several_lines_is_quoted_whole(tmp_path: Path) -> None:
    good = """
        TABLE = {"a": 1}
        def look(name):
            return TABLE[
                # how it is spelled
                name.lower(),
            ]
    """.replace("lower(),", "lower()")
    bad = good.replace("name.lower()", "name.upper()")
    test = "import lib\ndef test():\n    assert lib.look('A') == 1\n"
    execution = one_file(tmp_path, good, bad, test)
    failure = execution.failures()[0]
    assert failure.text == "return TABLE[name.upper()]"
    assert execution.step(failure.step).text == failure.text


def test_a_call_that_an_exception_left_is_the_one_it_came_through(tmp_path: Path) -> None:
    """Not the statement before it: ``for name in dir(kind)`` was said to have given ``__get__`` its owner."""
    bad = """
        def names(kind):
            found = []
            for name in sorted(dir(kind)):
                getattr(kind, name)
                found.append(name)
            return found
    """
    good = bad.replace("                getattr(kind, name)\n", "")
    test = """
        import lib
        class Raising:
            def __get__(self, instance, owner):
                if instance is None:
                    raise AttributeError("no")
        class Kind:
            zone = Raising()
        def test():
            assert "zone" in lib.names(Kind)
    """
    execution = one_file(tmp_path, good, bad, test)
    (owner,) = [step for step in reachable(execution) if step.target == "instance of __get__()"]
    assert (owner.text, owner.changes) == ("getattr(kind, name)", ("c1",))


def test_a_call_that_never_ended_gave_nothing(tmp_path: Path) -> None:
    """``def read(box, name):`` was said to have made ``read`` None; it was entered, and raised."""
    bad = """
        def read(box, name):
            if name == "size":
                return 1
            return super(type(box), box).__getattribute__(name)
        def watched(kind):
            kind.__getattribute__ = read
            return kind
    """
    good = bad.replace("            kind.__getattribute__ = read\n", "")
    test = """
        import lib
        class Box:
            def __init__(self):
                self.colour = 3
        class Small(Box):
            pass
        def test():
            lib.watched(Box)
            lib.watched(Small)
            assert Small().colour == 3
    """
    execution = one_file(tmp_path, good, bad, test)
    entered = [step for step in reachable(execution) if step.kind is StepKind.CALL]
    assert entered
    assert {step.target for step in entered} == {""}


def test_a_plugin_of_pytest_is_recorded_as_any_program(tmp_path: Path) -> None:
    """Installed plugins are loaded before ours: of typeguard, which is one, nothing was recorded."""
    bad = "def first(items):\n    return items[1]\n"
    entry = "[pytest11]\nlib = lib\n"
    shared = {
        "lib-1.dist-info/entry_points.txt": entry,
        "lib-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: lib\nVersion: 1\n",
        "lib-1.dist-info/RECORD": "lib.py,,\n",
        "test_lib.py": "import lib\ndef test():\n    assert lib.first([0]) == 0\n",
    }
    request = request_for(
        tmp_path, {"lib.py": bad.replace("1", "0"), **shared}, {"lib.py": bad, **shared}
    )
    environment = {**request.environment}
    del environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]
    request = replace(request, environment=environment)
    changes = changes_of({"lib.py": bad.replace("1", "0")}, {"lib.py": bad})
    execution = compared(request, tmp_path, changes)
    assert next(step.text for step in reachable(execution)) == "return items[1]"
