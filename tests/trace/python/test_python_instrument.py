"""Instrumented programs behave as the plain ones do: output, exceptions, tracebacks, names."""

from __future__ import annotations

import ast
import contextlib
import io
import shutil
import subprocess
import sys
import traceback
from pathlib import Path
from textwrap import dedent
from types import CodeType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterd.execution.environment import scrubbed_environment
from afterd.trace.python.record.instrument import Instrumenter
from afterd.trace.python.record.recorder import Recorder, install_silence
from afterd.trace.python.record.rows import fingerprint
from afterd.trace.python.record.settings import Settings
from afterd.trace.python.record.tree import NumberedTree
from afterd.trace.python.stage.runner import environment_for, stage

PROGRAMS = {
    "classes": """
        class A:
            '''Doc.'''
            x: int = 3
            _A__hidden = 1
            def __init__(self, y=x): self.y = y
            @property
            def z(self): return self.y + self.__hidden
            @classmethod
            def make(cls, *a, **k): return cls(*a, **k)
            def __getattr__(self, name): return name.upper()
            def __eq__(self, other): return self.y == other.y
            __hash__ = None
        class B(A):
            def __init__(self): super().__init__(9)
        print(A.__doc__, A.make(4).z, B().y, A(1) == A(1), A(2).missing, sorted(vars(A)))
        """,
    "generators": """
        def g(n):
            try:
                for i in range(n):
                    got = yield i
                    if got: print('got', got)
            finally:
                print('closed')
            return 'end'
        def d(): r = yield from g(2); print(r)
        it = g(3); print(next(it), it.send('x')); it.close()
        print(list(d()), [x for x in g(1)], dict((k, v) for k, v in zip('ab', g(2))))
        """,
    "comprehensions": """
        xs = [1, 2, 3]
        print([a * b for a in xs if a > 1 for b in xs if b < 3], {x: -x for x in xs})
        print({x % 2 for x in xs})
        print(sum(x for x in xs if (y := x) > 1), y, [[c for c in r] for r in ('ab', 'c')])
        class C:
            base = 2
            table = [base for _ in range(2)] if False else [b for b in [base]]
        print(C.table)
        """,
    "exceptions": """
        def f(n):
            try:
                if n == 0: raise KeyError('k')
                if n == 1: return 'r'
                if n == 2: 1 / 0
                return n
            except KeyError as error:
                return repr(error)
            except (ZeroDivisionError, ValueError):
                try:
                    raise RuntimeError('again') from None
                except RuntimeError as inner:
                    return str(inner), inner.__suppress_context__
            else:
                return 'else'
            finally:
                print('finally', n)
        print([f(n) for n in range(4)])
        """,
    "groups": """
        try:
            raise ExceptionGroup('g', [ValueError(1), TypeError(2)])
        except* ValueError as group: print('values', group.exceptions)
        except* TypeError as group: print('types', len(group.exceptions))
        """,
    "match": """
        def m(v):
            match v:
                case {'k': x, **rest}: return 'map', x, rest
                case [a, *more] if a > 0: return 'seq', a, more
                case str() | bytes() as t: return 'text', t
                case (1 | 2) as n: return 'int', n
                case None: return 'none'
                case _: return 'other'
        print([m(v) for v in ({'k': 1, 'z': 2}, [5, 6], [0], 'q', 2, None, 3.5)])
        """,
    "async": """
        import asyncio
        from contextlib import asynccontextmanager
        @asynccontextmanager
        async def opened(): yield 'res'
        async def agen(n):
            for i in range(n):
                await asyncio.sleep(0)
                yield i
        async def work(n):
            async with opened() as r:
                return [r, [x async for x in agen(n)], n]
        async def main():
            print(await asyncio.gather(work(1), work(2)))
            async for x in agen(1): print(x)
            else: print('done')
        asyncio.run(main())
        """,
    "scopes": """
        from __future__ import annotations
        import os.path as p, sys
        total = 0
        def outer(a, /, b=1, *args, c=2, **kw):
            seen = []
            def inner():
                nonlocal b
                global total
                b += 1; total += b
                seen.append(b)
                return locals().keys() - {'seen'}
            print(sorted(inner()), sorted(locals()), args, kw)
            del seen
            return lambda q=b: (q, a, total)
        print(outer(1, 5, 6, d=7)(), total, p is sys.modules['os.path'])
        x: int
        print(__annotations__, [k for k in globals() if k.startswith('@')])
        """,
    "operators": """
        a, (b, *c) = 1, (2, 3, 4)
        a += 1; d = {'k': [1]}; d['k'] += [2]; d['k'][0] -= 5
        class O: pass
        o = O(); o.v = 1; o.v *= 7; o.w = o.u = 2
        print(a, b, c, d, vars(o), a and b or c, not a, a if b < 0 else -b, 1 < a < 3 <= b)
        print(f'{a!r:>4}{b:{a}}', 'x' in 'xy', *c, sep='|')
        i = 0
        while True:
            i += 1
            if i == 2: continue
            if i > 3: break
        else: print('never')
        for i in []: pass
        else: print('for else')
        assert i, 'message'
        with open(__import__('os').devnull) as f, f: pass
        print(i, [*c, *c], {**d}, (lambda *x, **k: (x, k))(1, z=2), c[1:], c[::-1], c[-1])
        """,
    "decorators": """
        import functools, inspect
        def deco(arg):
            def wrap(f):
                @functools.wraps(f)
                def inner(*a, **k): return arg, f(*a, **k)
                return inner
            return wrap
        @deco('x')
        @functools.lru_cache
        def f(n: int = 2, *, m=3) -> int:
            'Doc of f.'
            return n * m
        print(f(), f(4), f.__doc__, inspect.signature(f), f.__wrapped__.cache_info())
        """,
}
FAILING = {
    "nested calls": (
        "def a(x):\n    return b(x) + 1\n\ndef b(x):\n    y = [x]\n"
        "    return y[\n        3]\n\na(1)\n"
    ),
    "assertion": "def f():\n    x = 1\n    assert x == 2, f'no {x}'\n\nf()\n",
    "comprehension": "xs = [1, 0]\nprint([1 / x for x in xs])\n",
    "lambda": "f = lambda x: x.y\nf(3)\n",
    "name": "def f():\n    if True:\n        return missing + 1\nf()\n",
    "reraise": (
        "def f():\n    try:\n        {}['k']\n    except KeyError:\n        raise\n"
        "    finally:\n        pass\nf()\n"
    ),
    "from": "try:\n    int('x')\nexcept ValueError as e:\n    raise TypeError('t') from e\n",
    "method": "class A:\n    def m(self): return self.n.o\n    n = None\nA().m()\n",
    "unpack": "def g():\n    yield 1\na, b = g()\n",
}


def instrumented(source: str, name: str = "prog.py") -> CodeType:
    """The code as the import hook makes it."""
    tree = NumberedTree(ast.parse(source, name))
    module = fingerprint(name, source.encode())
    return compile(Instrumenter(tree, module).run(), name, "exec", dont_inherit=True)


def run(code: CodeType) -> tuple[str, str]:
    """What a program prints, and its traceback."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        try:
            exec(code, {"__name__": "prog", "__builtins__": __builtins__})
        except Exception as error:  # noqa: BLE001 # whatever the program raises is compared
            below = error.__traceback__ and error.__traceback__.tb_next
            text = traceback.format_exception(type(error), error, below)
            return output.getvalue(), "".join(text)
    return output.getvalue(), ""


def behaviour(source: str) -> tuple[tuple[str, str], tuple[str, str]]:
    """Plain and instrumented."""
    plain = run(compile(source, "prog.py", "exec", dont_inherit=True))
    recorder = Recorder(4, 4)
    recorder.install()
    try:
        return plain, run(instrumented(source))
    finally:
        recorder.stop()


@pytest.mark.parametrize("name", PROGRAMS)
def test_features_survive(name: str) -> None:
    """Every construct does what it did."""
    plain, traced = behaviour(dedent(PROGRAMS[name]))
    assert plain[1] == ""
    assert traced == plain


@pytest.mark.parametrize("name", FAILING)
def test_tracebacks_are_unchanged(name: str) -> None:
    """The same frames, lines and carets."""
    plain, traced = behaviour(FAILING[name])
    assert plain[1]
    assert traced == plain


def test_silent_code_runs_without_a_recorder() -> None:
    """After a recording ends, instrumented code goes on."""
    install_silence()
    assert run(instrumented("print([x for x in (1, 2) if x > 1], (lambda: 3)())")) == (
        "[2] 3\n",
        "",
    )


def test_lines_executed_are_the_program_s_own() -> None:
    """Line tracing (coverage, debuggers) sees no line that is not a statement's."""
    source = dedent(PROGRAMS["exceptions"])
    install_silence()
    seen = [lines(code) for code in (compile(source, "prog.py", "exec"), instrumented(source))]
    assert seen[0] == seen[1]


def lines(code: CodeType) -> set[int]:
    """The lines that ``sys.settrace`` reports."""
    found: set[int] = set()

    def tracer(frame: object, event: str, _: object) -> object:
        if getattr(getattr(frame, "f_code", None), "co_filename", "") == "prog.py":
            if event == "line":
                found.add(int(getattr(frame, "f_lineno", 0)))
            return tracer
        return None

    before = sys.gettrace()
    sys.settrace(tracer)  # type: ignore[arg-type] # frames as objects are enough here
    try:
        run(code)
    finally:
        sys.settrace(before)
    return found


EXPRESSIONS = st.recursive(
    st.sampled_from(["a", "b", "c", "0", "1", "-2", "'s'", "''", "None", "[a]", "(b, c)"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%"]), inner)
        .map(" ".join)
        .map("({})".format),
        st.tuples(inner, st.sampled_from(["<", "==", "and", "or", "in", "!="]), inner)
        .map(" ".join)
        .map("({})".format),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
        inner.map("(not {})".format),
        inner.map("f({})".format),
        inner.map("[f(x) for x in [a, b] if {}]".format),
        inner.map("(lambda a: {})(3)".format),
        inner.map("(c := {})".format),
    ),
    max_leaves=12,
)


ATTEMPT = """\
def f(x):
    print('f', repr(x)[:99])
    return x
def attempt(thunk):
    try:
        print(repr(thunk())[:200])
    except (TypeError, ZeroDivisionError) as error:
        print(error)
"""


@settings(max_examples=120)
@given(st.lists(EXPRESSIONS, min_size=1, max_size=4))
def test_any_expression_has_its_value(expressions: list[str]) -> None:
    """Values, side effects, their order, and errors."""
    body = "\n".join(f"    attempt(lambda: {expression})" for expression in expressions)
    source = ATTEMPT + f"def main(a, b, c):\n{body.replace('(c := ', '(d := ')}\nmain(1, 2, 0)\n"
    plain, traced = behaviour(source)
    assert traced == plain


def interpreters() -> list[str]:
    """Other supported Pythons on this machine; those of pyenv too."""
    found = [shutil.which(f"python3.{minor}") for minor in (9, 10, 11, 12, 13)]
    pyenv = Path.home() / ".pyenv" / "versions"
    found += [str(p) for p in sorted(pyenv.glob("3.*/bin/python"))] if pyenv.is_dir() else []
    unique: dict[str, str] = {}
    for path in filter(None, found):
        asked = subprocess.run(
            [path, "-c", "import sys; print(sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,
        )
        if asked.returncode == 0:
            unique.setdefault(asked.stdout.strip(), path)
    return [
        path
        for version, path in unique.items()
        if version in {"(3, 9)", "(3, 10)", "(3, 11)", "(3, 12)", "(3, 13)"}
    ]


def test_features_survive_on_every_python(tmp_path: Path) -> None:
    """The same corpus through sitecustomize and the import hook, on each interpreter there is."""
    tree = tmp_path / "tree"
    tree.mkdir()
    for name, program in PROGRAMS.items():
        (tree / f"prog_{name}.py").write_text(dedent(program), encoding="utf-8")
    newer = {"match": (3, 10), "groups": (3, 11)}
    names = ", ".join(f"prog_{name}" for name in PROGRAMS if name not in newer)
    guarded = "".join(
        f"if sys.version_info >= {since}:\n    import prog_{name}\n"
        for name, since in newer.items()
    )
    (tree / "main.py").write_text(f"import sys, {names}\n{guarded}", encoding="utf-8")
    out = tmp_path / "out"
    out.mkdir()
    options = Settings("trace", str(tree), str(out), str(tmp_path / "cache"))
    options.write(tmp_path / "settings.json")
    traced = environment_for(
        scrubbed_environment(), stage(tmp_path / "staged"), tmp_path / "settings.json", ()
    )
    for count, interpreter in enumerate(interpreters(), start=1):
        outputs = [
            subprocess.run(
                [interpreter, "main.py"],
                cwd=tree,
                env=env,
                capture_output=True,
                text=True,
                check=False,
            )
            for env in (scrubbed_environment(), traced)
        ]
        assert outputs[0].stdout
        assert (outputs[1].stdout, outputs[1].stderr) == (outputs[0].stdout, outputs[0].stderr)
        assert len(list(out.glob("trace-*.json"))) == count


@pytest.mark.parametrize("module", ["test_grammar", "test_named_expressions", "test_scope"])
def test_standard_library_tests_pass_instrumented(module: str, tmp_path: Path) -> None:
    """CPython's own tests of its grammar and scopes, copied and instrumented."""
    pytest.importorskip("test.support")
    source = Path(str(sys.modules["test"].__file__)).with_name(f"{module}.py")
    tree = tmp_path / "tree"
    tree.mkdir()
    shutil.copy(source, tree / f"copied_{module}.py")
    out = tmp_path / "out"
    out.mkdir()
    options = Settings("trace", str(tree), str(out), str(tmp_path / "cache"))
    options.write(tmp_path / "settings.json")
    env = environment_for(
        scrubbed_environment(), stage(tmp_path / "staged"), tmp_path / "settings.json", ()
    )
    argv = [sys.executable, "-m", "unittest", "-q", f"copied_{module}"]
    done = subprocess.run(argv, cwd=tree, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
