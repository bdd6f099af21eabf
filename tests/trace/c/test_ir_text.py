"""What is read off the IR's text, beside LLVM itself: layouts, initial bytes, operators, control flow."""

from __future__ import annotations

import ctypes
import math
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import llvmlite.binding as llvm
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterd.logic import evaluate
from afterd.model.term import BOOL, Const, Term, bitvec, ieee
from afterd.trace.c.ir.arithmetic import BINARY, binary, cast, comparison
from afterd.trace.c.ir.cfg import analyse
from afterd.trace.c.ir.constants import from_word, literal, sort_of, to_word
from afterd.trace.c.ir.initialisers import image_of, text_of, type_and_value
from afterd.trace.c.ir.ir import Instruction, functions, parameters, parse_function, plain_locals
from afterd.trace.c.ir.irtypes import Layout, split_top
from afterd.trace.c.ir.recorded import arguments, callee, operands, result_type, split_typed
from afterd.trace.c.weave.instrument import instrument
from afterd.trace.c.weave.undebugged import undebugged
from afterd.trace.c.weave.weaver import Numbers
from afterd.trace.c.window import records

TARGET = (
    'target triple = "x86_64-unknown-linux-gnu"\n'
    'target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"\n'
)
INTEGERS = ("i8", "i16", "i32", "i64")
SIGNED = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
ORDERED = ("oeq", "one", "olt", "ole", "ogt", "oge", "ord")
UNORDERED = ("ueq", "une", "ult", "ule", "ugt", "uge", "uno")


@dataclass(frozen=True)
class Compiled:
    """A module in this process: what LLVM makes of the text that afterd reads."""

    engine: llvm.ExecutionEngine
    module: llvm.ModuleRef

    def address(self, name: str) -> int:
        return int(self.engine.get_global_value_address(name))

    def function(self, name: str, result: type, *kinds: type) -> object:
        return ctypes.CFUNCTYPE(result, *kinds)(self.engine.get_function_address(name))


def compiled(text: str) -> Compiled:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine()
    module = llvm.parse_assembly(text)
    module.verify()
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return Compiled(engine, module)


KINDS = st.recursive(
    st.sampled_from([*INTEGERS, "i1", "ptr", "float", "double", "x86_fp80", "i128"]),
    lambda inner: st.one_of(
        st.tuples(st.integers(1, 5), inner).map(lambda of: f"[{of[0]} x {of[1]}]"),
        st.lists(inner, min_size=1, max_size=4).map(lambda of: f"{{ {', '.join(of)} }}"),
        st.lists(inner, min_size=1, max_size=4).map(lambda of: f"<{{ {', '.join(of)} }}>"),
    ),
    max_leaves=8,
)


@settings(max_examples=60)
@given(kind=KINDS)
def test_a_layout_is_the_compilers(kind: str) -> None:
    module = llvm.parse_assembly(f"{TARGET}@g = external global {kind}\n")
    data = llvm.create_target_data(module.data_layout)
    of = module.get_global_variable("g").global_value_type
    layout = Layout({})
    assert layout.size(kind) == data.get_abi_size(of)
    for field in range(len(layout.fields(kind))):
        assert layout.offset(kind, field) == data.get_element_offset(of, field)


def test_a_named_struct_is_laid_out_by_its_body() -> None:
    layout = Layout({"%pair": "{ i8, %inner }", "%inner": "<{ i8, i32 }>"})
    assert layout.fields("%pair") == ("i8", "%inner")
    assert (layout.offset("%pair", 1), layout.size("%pair"), layout.size("%unknown")) == (1, 6, 0)


@settings(max_examples=50)
@given(parts=st.lists(KINDS, min_size=1, max_size=6))
def test_what_was_joined_is_split_again(parts: list[str]) -> None:
    assert split_top(", ".join(parts)) == parts


def test_a_separator_in_a_string_or_a_bracket_separates_nothing() -> None:
    assert split_top('i8 c"a,b", ptr @"x,y", { i8, i8 } undef') == [
        'i8 c"a,b"',
        'ptr @"x,y"',
        "{ i8, i8 } undef",
    ]


GLOBALS = {
    "word": "global i32 -7",
    "text": r'constant [6 x i8] c"a\0A\22,b\00"',
    "numbers": "global [3 x i16] [i16 1, i16 -2, i16 300]",
    "nested": "global { i8, [2 x i32], double } { i8 1, [2 x i32] [i32 2, i32 3], double 2.5 }",
    "packed": "global <{ i8, i32, i8 }> <{ i8 1, i32 -1, i8 2 }>",
    "zero": "global { i64, ptr } zeroinitializer",
    "inner": "global [2 x { i8, i32 }] [{ i8, i32 } { i8 1, i32 2 }, { i8, i32 } zeroinitializer]",
    "long_double": "global x86_fp80 0xK3FFF8000000000000000",
    "float": "global [2 x float] [float 1.5, float 0x7FF8000000000000]",
    "points": "global ptr @numbers",
    "past": "global ptr getelementptr inbounds ([3 x i16], ptr @numbers, i64 0, i64 2)",
    "field": "global ptr getelementptr ({ i8, i32 }, ptr @inner, i64 1, i32 1)",
    "address": "global i64 ptrtoint (ptr @numbers to i64)",
    "flags": "global [2 x i1] [i1 true, i1 false]",
}


@pytest.fixture(scope="module")
def variables() -> Compiled:
    return compiled(TARGET + "".join(f"@{name} = {text}\n" for name, text in GLOBALS.items()))


@pytest.mark.parametrize("name", GLOBALS)
def test_a_variable_begins_with_the_bytes_that_the_compiler_gives_it(
    name: str, variables: Compiled
) -> None:
    image = image_of(GLOBALS[name], Layout({}), lambda symbol: variables.address(symbol[1:]))
    assert image is not None
    there = ctypes.string_at(variables.address(name), len(image.data))
    known = [at for at in range(len(there)) if image.known[at]]
    assert bytes(there[at] for at in known) == bytes(image.data[at] for at in known)
    unknown = {"long_double": 10}.get(name, 0)  # no term has its bits
    assert len(known) == len(there) - unknown


def test_a_declaration_has_no_bytes_and_a_byte_outside_none() -> None:
    assert image_of("external global i32", Layout({}), lambda _: None) is None
    image = image_of("global [2 x ptr] [ptr @a, ptr null]", Layout({}), lambda _: None)
    assert image is not None
    found = [image.bits(*place) for place in ((0, 8), (8, 8), (9, 8), (-1, 1))]
    assert found == [None, 0, None, None]


def test_escapes_of_a_text() -> None:
    assert text_of(r'c"\41\22\00"') == b'A"\0'
    assert text_of("zeroinitializer") is None
    assert type_and_value('private unnamed_addr constant [2 x i8] c"a\\00", align 1') == (
        "[2 x i8]",
        'c"a\\00"',
    )


def _operators() -> Iterator[str]:
    for kind in INTEGERS:
        for name in BINARY:
            if not name.startswith("f"):
                yield (
                    f"define {kind} @{name}_{kind}({kind} %a, {kind} %b) "
                    f"{{ %r = {name} {kind} %a, %b\n ret {kind} %r }}\n"
                )
        for name in SIGNED:
            yield (
                f"define i8 @icmp_{name}_{kind}({kind} %a, {kind} %b) "
                f"{{ %c = icmp {name} {kind} %a, %b\n %r = zext i1 %c to i8\n ret i8 %r }}\n"
            )
    for name in (*ORDERED, *UNORDERED):
        yield (
            f"define i8 @fcmp_{name}(double %a, double %b) "
            f"{{ %c = fcmp {name} double %a, %b\n %r = zext i1 %c to i8\n ret i8 %r }}\n"
        )
    for name in ("fadd", "fsub", "fmul", "fdiv"):
        yield (
            f"define double @{name}(double %a, double %b) "
            f"{{ %r = {name} double %a, %b\n ret double %r }}\n"
        )
    for name, small, large in CASTS:
        yield (
            f"define {large} @{name}_{small}_{large}({small} %a) "
            f"{{ %r = {name} {small} %a to {large}\n ret {large} %r }}\n"
        )


CASTS = [
    *(("zext", "i8", "i32"), ("zext", "i16", "i64"), ("zext", "i8", "i16")),
    *(("sext", "i8", "i32"), ("sext", "i16", "i64"), ("sext", "i8", "i16")),
    *(("trunc", "i32", "i8"), ("trunc", "i64", "i16")),
]


@pytest.fixture(scope="module")
def machine() -> Compiled:
    return compiled(TARGET + "".join(_operators()))


UNSIGNED = {8: ctypes.c_uint8, 16: ctypes.c_uint16, 32: ctypes.c_uint32, 64: ctypes.c_uint64}


def _edge(width: int) -> st.SearchStrategy[int]:
    top = 1 << width
    edges = [0, 1, 2, top - 1, top >> 1, (top >> 1) - 1]
    return st.one_of(st.sampled_from(edges), st.integers(0, top - 1))


def _value(term: Term | None) -> object:
    assert term is not None
    return evaluate(term)


@settings(max_examples=80)
@given(data=st.data())
def test_an_operator_computes_what_the_processor_does(
    machine: Compiled, data: st.DataObject
) -> None:
    width = data.draw(st.sampled_from([8, 16, 32, 64]))
    name = data.draw(st.sampled_from([name for name in BINARY if not name.startswith("f")]))
    left = data.draw(_edge(width))
    right = data.draw(st.integers(0, width - 1) if "sh" in name else _edge(width))
    overflows = name in {"sdiv", "srem"} and (left, right) == (1 << width - 1, (1 << width) - 1)
    if name[1:] in {"div", "rem"} and (right == 0 or overflows):
        right = 3
    kind = UNSIGNED[width]
    called = machine.function(f"{name}_i{width}", kind, kind, kind)
    sort = bitvec(width)
    assert callable(called)
    assert _value(binary(name, Const(left, sort), Const(right, sort))) == called(left, right)


@settings(max_examples=80)
@given(data=st.data())
def test_a_comparison_says_what_the_processor_says(machine: Compiled, data: st.DataObject) -> None:
    width = data.draw(st.sampled_from([8, 16, 32, 64]))
    name = data.draw(st.sampled_from(SIGNED))
    left, right = data.draw(_edge(width)), data.draw(_edge(width))
    kind, sort = UNSIGNED[width], bitvec(width)
    called = machine.function(f"icmp_{name}_i{width}", ctypes.c_uint8, kind, kind)
    assert callable(called)
    term = comparison(name, Const(left, sort), Const(right, sort))
    assert _value(term) == bool(called(left, right))


@settings(max_examples=80)
@given(data=st.data())
def test_floats_compare_and_compute_as_in_hardware(machine: Compiled, data: st.DataObject) -> None:
    number = st.one_of(
        st.floats(width=64), st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf])
    )
    left, right, sort = data.draw(number), data.draw(number), ieee(64)
    sides = Const(left, sort), Const(right, sort)
    name = data.draw(st.sampled_from([*ORDERED, *UNORDERED]))
    called = machine.function(f"fcmp_{name}", ctypes.c_uint8, ctypes.c_double, ctypes.c_double)
    assert callable(called)
    found = comparison(name, *sides)
    if found is not None:
        assert evaluate(found) == bool(called(left, right)), name
    name = data.draw(st.sampled_from(["fadd", "fsub", "fmul", "fdiv"]))
    called = machine.function(name, ctypes.c_double, ctypes.c_double, ctypes.c_double)
    assert callable(called)
    ours, theirs = evaluate(binary(name, *sides)), called(left, right)
    assert isinstance(theirs, float)
    if math.isnan(theirs):  # no term holds a NaN that was computed
        assert not isinstance(ours, float) or math.isnan(ours)
    else:
        assert isinstance(ours, float)
        assert struct.pack("d", ours) == struct.pack("d", theirs)


@settings(max_examples=80)
@given(data=st.data())
def test_a_cast_keeps_what_the_processor_keeps(machine: Compiled, data: st.DataObject) -> None:
    name, start, to = data.draw(st.sampled_from(CASTS))
    width, other = int(start[1:]), int(to[1:])
    value = data.draw(_edge(width))
    called = machine.function(f"{name}_{start}_{to}", UNSIGNED[other], UNSIGNED[width])
    assert callable(called)
    assert _value(cast(name, Const(value, bitvec(width)), to)) == called(value)


def test_casts_of_truth_values_and_what_is_no_term() -> None:
    true = Const(True, BOOL)  # noqa: FBT003 - the literal true
    assert _value(cast("zext", true, "i8")) == 1
    assert _value(cast("sext", true, "i8")) == 255
    assert _value(cast("trunc", Const(2, bitvec(8)), "i1")) is False
    assert cast("bitcast", Const(1.0, ieee(64)), "i64") is None


@given(data=st.data(), kind=st.sampled_from([*INTEGERS, "i1", "float", "double"]))
def test_a_recorded_word_is_the_value_and_back(data: st.DataObject, kind: str) -> None:
    width = {"i1": 1, "float": 32, "double": 64}.get(kind) or int(kind[1:])
    word = data.draw(st.integers(0, (1 << width) - 1))
    sort = sort_of(kind)
    value = from_word(word, sort)
    if value == value:  # noqa: PLR0124 - the bits of a NaN are not kept
        assert to_word(value, sort) == word


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("i8", "-1", 255),
        ("i64", "null", 0),
        ("ptr", "null", 0),
        ("i1", "true", True),
        ("double", "0x3FF8000000000000", 1.5),
        ("float", "2.5e-1", 0.25),
        ("x86_fp80", "0xK4000C000000000000000", 3.0),
        ("x86_fp80", "0xKBFFF8000000000000000", -1.0),
        ("x86_fp80", "0xK7FFF8000000000000000", None),
    ],
)
def test_literals(kind: str, text: str, value: object) -> None:
    found = literal(kind, text)
    assert found is not None
    assert found.value == value


@pytest.mark.parametrize(
    ("kind", "text"), [("i32", "%x"), ("ptr", "@g"), ("i8", "undef"), ("double", "%y")]
)
def test_what_is_no_literal(kind: str, text: str) -> None:
    assert literal(kind, text) is None


GRAPHS = st.integers(1, 7).flatmap(
    lambda count: st.lists(
        st.lists(st.integers(0, count - 1), max_size=3, unique=True), min_size=count, max_size=count
    )
)


def _reach(edges: Sequence[Sequence[int]], start: int, without: int = -1) -> set[int]:
    found, stack = set[int](), [start]
    while stack:
        block = stack.pop()
        if block not in found and block != without:
            found.add(block)
            stack += edges[block]
    return found


@settings(max_examples=100)
@given(edges=GRAPHS)
def test_control_flow_by_its_definition(edges: list[list[int]]) -> None:
    """Reachability, post-dominance and loops as they are defined: by taking one block away."""
    found = analyse(edges)
    reached = _reach(edges, 0)
    assert [at for at, each in enumerate(found.reached) if each] == sorted(reached)
    leaving = {b for b in range(len(edges)) if not edges[b]}
    for block in range(len(edges)):
        to_exit = _reach(edges, block) & leaving
        above = found.postdominator[block]
        if above >= 0 and to_exit and all(_reach(edges, b) & leaving for b in range(len(edges))):
            assert not _reach(edges, block, without=above) & leaving
        for header in found.headers[block]:
            assert header in _reach(edges, block)
            assert block == header or block not in _reach(edges, 0, without=header)
    back = {
        header
        for block in reached
        for header in edges[block]
        if block == header or block not in _reach(edges, 0, without=header)
    }
    assert {header for each in found.headers for header in each} == back


def test_what_decides_a_block() -> None:
    """If (a) { if (b) c } d: Ferrante, Ottenstein and Warren's example in small."""
    found = analyse([[1, 3], [2, 3], [3], []])
    assert found.depends == (frozenset(), frozenset([0]), frozenset([1]), frozenset())
    assert found.postdominator == (3, 3, 3, -1)
    looped = analyse([[1], [2, 3], [1], []])
    assert looped.headers == ((), (1,), (1,), ())
    assert looped.depends[1] == {1}, "a loop's test decides whether it is made again"


FUNCTION = """\
define dso_local i32 @"main file"(i32 noundef %0, ptr nocapture readonly %1) #0 !dbg !7 {
  %3 = alloca i32, align 4
  %4 = alloca ptr, align 8
  %5 = alloca [4 x i8], align 1
  store i32 %0, ptr %3, align 4
  store ptr %3, ptr %4, align 8
  %6 = load i32, ptr %3, align 4
  switch i32 %6, label %8 [
    i32 1, label %7
  ]

7:                                                ; preds = %2
  %x = call i32 (ptr, ...) @printf(ptr noundef @.str, i32 noundef %6, ptr byval(%s) align 8 %4), !dbg !9
  br label %8

8:                                                ; preds = %7, %2
  ret i32 0
}
"""


def test_a_function_is_cut_into_its_blocks() -> None:
    [(start, end, function)] = functions(f"; a module\n{FUNCTION}")
    assert (f"; a module\n{FUNCTION}")[start:end] == FUNCTION.rstrip("\n")
    assert function == parse_function(FUNCTION.rstrip("\n"))
    assert (function.name, [block.label for block in function.blocks]) == (
        "main file",
        ["", "7", "8"],
    )
    assert [each.opcode for each in function.blocks[0].instructions][-1] == "switch"
    assert "i32 1, label %7" in function.blocks[0].terminator.text
    assert parameters(function.header) == ["i32 noundef %0", "ptr nocapture readonly %1"]
    assert plain_locals(function) == {}, "the address of %3 is stored, that of %4 is passed"


def test_a_call_is_read_with_its_attributes() -> None:
    call = parse_function(FUNCTION.rstrip("\n")).blocks[1].instructions[0]
    assert (callee(call), result_type(call)) == ("@printf", "i32")
    assert arguments(call) == [("ptr", "@.str"), ("i32", "%6"), ("ptr", "%4")]


@pytest.mark.parametrize(
    ("text", "opcode", "expected"),
    [
        ("  store i32 7, ptr @g, align 4", "store", [("i32", "7"), ("ptr", "@g")]),
        ("  %1 = load { i8, i32 }, ptr %p, align 4", "load", [("{ i8, i32 }", ""), ("ptr", "%p")]),
        (
            "  %1 = atomicrmw add ptr %p, i32 1 seq_cst, align 4",
            "atomicrmw",
            [("ptr", "%p"), ("i32", "1")],
        ),
        (
            "  %1 = cmpxchg ptr %p, i32 0, i32 1 acquire monotonic",
            "cmpxchg",
            [("ptr", "%p"), ("i32", "0")],
        ),
    ],
)
def test_operands(text: str, opcode: str, expected: object) -> None:
    result = text.split(" = ", maxsplit=1)[0].strip() if " = " in text else ""
    assert operands(Instruction(text, opcode, result)) == expected


def test_a_value_behind_its_attributes() -> None:
    assert split_typed("ptr noundef nonnull align 8 dereferenceable(16) %x") == ("ptr", "%x")
    assert split_typed("<{ i8, [2 x i8] }> zeroinitializer") == (
        "<{ i8, [2 x i8] }>",
        "zeroinitializer",
    )


def test_an_object_gets_what_its_code_uses_of_the_metadata_and_no_debug_information() -> None:
    code = (
        "define i32 @f() !dbg !4 {\n"
        "  store i32 1, ptr @x, align 4, !dbg !5, !tbaa !6\n"
        "  br label %b, !dbg !5, !llvm.loop !7\n"
        "}\n"
        '@said = constant [10 x i8] c", !dbg !99", align 1\n'
    )
    named = "!llvm.dbg.cu = !{!0}\n!llvm.module.flags = !{!1}\n"
    flags = '!1 = !{i32 8, !"PIC Level", i32 2}'
    nodes = (
        "!0 = distinct !DICompileUnit(language: DW_LANG_C11)\n"
        f"{flags}\n!4 = !DISubprogram(unit: !0)\n!5 = !DILocation(line: 1, scope: !4)\n"
        '!6 = !{!8, !8, i64 0}\n!7 = !{!7}\n!8 = !{!"int"}\n'
    )
    made = undebugged(code, f"{named}\n{nodes}")
    assert not any(word in made for word in ("!DI", "dbg.cu", "llvm.loop"))
    assert 'c", !dbg !99"' in made
    assert "store i32 1, ptr @x, align 4, !tbaa !6\n" in made
    assert {flags, "!6 = !{!8, !8, i64 0}", '!8 = !{!"int"}'} <= set(made.split("\n"))


def test_stack_slots_stay_in_the_block_in_which_llvm_gives_them_a_fixed_place() -> None:
    text = (
        f"{TARGET}define i32 @f(i32 %n) {{\nentry:\n  %a = alloca i32, align 4\n"
        "  store i32 %n, ptr %a, align 4\n  %b = alloca [4 x i32], align 16\n"
        "  %m = zext i32 %n to i64\n  %c = alloca i8, i64 %m, align 16\n"
        "  %l = load i32, ptr %a, align 4\n  ret i32 %l\n}\n"
    )
    woven = instrument(text).woven(Numbers(1, 1, 1)).text
    module = llvm.parse_assembly(woven)
    module.verify()
    first, rest = str(next(iter(module.get_function("f").blocks))), woven.split(".on:", 1)[1]
    assert "%a = alloca" in first
    assert "%b = alloca" in first
    assert "%c = alloca" in rest


def test_what_an_invoke_gave_is_recorded_under_its_own_call() -> None:
    text = (
        f"{TARGET}declare i32 @g(i32)\ndeclare i32 @__gxx_personality_v0(...)\n"
        "define i32 @f(i32 %n) personality ptr @__gxx_personality_v0 {\nentry:\n"
        "  %a = invoke i32 @g(i32 %n)\n          to label %on unwind label %out\n"
        "on:\n  %b = call i32 @g(i32 %a)\n  ret i32 %b\n"
        "out:\n  %l = landingpad { ptr, i32 }\n          cleanup\n  resume { ptr, i32 } %l\n}\n"
    )
    woven = instrument(text).woven(Numbers(1, 7, 1)).text
    llvm.parse_assembly(woven).verify()
    words = [int(word) % (1 << 64) for word in re.findall(r"or i64 %afterd.wide, (-?\d+)", woven)]
    of_calls = [
        (word >> records.TAG_SHIFT, word >> records.ID_SHIFT & records.ID_MASK)
        for word in words
        if word >> records.TAG_SHIFT in {records.CALL, records.RETURN}
    ]
    assert of_calls == [
        (records.CALL, 7),
        (records.RETURN, 7),
        (records.CALL, 8),
        (records.RETURN, 8),
    ]
