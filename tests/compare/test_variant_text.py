"""What speaks against a half-undone text of JavaScript, TypeScript, Go, Rust or Java."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from afterd.compare.coverage.scopes import is_known, scopes
from afterd.compare.coverage.variant_text import MissedNames, VariantText
from afterd.model.change import Change, ChangeSet
from afterd.model.location import LineSpan
from afterd.model.outcome import Outcome, Unresolved, Verdict


@pytest.mark.parametrize(
    ("path", "text", "top", "free"),
    [
        ("a.js", "const a = b + 1;\n", {"a"}, {"b"}),
        ("a.js", "function f(x, {y}) { return x + y + z; }\n", {"f"}, {"z"}),
        ("a.js", "import d, {e as g, h} from 'm'; g(h, d);\n", {"d", "e", "g", "h"}, set()),
        ("a.mjs", "for (const k of list) { use(k); }\n", {"k"}, {"list", "use"}),
        ("a.cjs", "try { f(); } catch (error) { g(error); }\n", {"error"}, {"f", "g"}),
        ("a.ts", "type T<U> = U[]; let v: T<number> = w;\n", {"T", "U", "v"}, {"w"}),
        ("a.ts", "interface I { m(x: I): J }\nx;\n", {"I"}, {"J", "x"}),
        (
            "a.ts",
            "type F = (x: F) => J;\ndeclare function g(y: F): J;\nx + y;\n",
            {"F", "g"},
            {"J", "x", "y"},
        ),
        (
            "a.go",
            "package p\ntype I interface { M(h int) }\nfunc f() { h }\n",
            {"I", "f"},
            {"h", "int"},
        ),
        ("a.go", "package p\nvar f func(h int)\nvar g = h\n", {"f", "g"}, {"h", "int"}),
        ("a.rs", "trait T { fn m(x: u8); }\nfn f() { x; }\n", {"T", "f"}, {"x"}),
        ("a.jsx", "const a = (b) => c(b);\n", {"a"}, {"c"}),
        ("a.go", "package p\nfunc f(a int) int { b := a; return b + c }\n", {"f"}, {"c", "int"}),
        ("a.rs", "fn f(a: u8) -> u8 { let b = a; b + C }\n", {"f"}, {"C"}),
        (
            "A.java",
            "import q.B; class A<T> { static int N = M; void f(T a, C b) {\n"
            "  for (B c : b) { g(() -> c, d -> d); } try (D r = N) { h(r); } catch (F | H e) { i(e); } } }\n",
            {"A", "B"},
            {"C", "D", "F", "H", "M", "g", "h", "i"},
        ),
        (
            "E.java",
            "enum E { ONE(TWO) { int f() { return this.k + ONE.ordinal(); } } }\n"
            "record R(E e) { R { if (e instanceof S s) { t(s); } } }\n",
            {"E", "R"},
            {"S", "TWO", "t"},
        ),
    ],
)
def test_names_of_a_text(path: str, text: str, top: set[str], free: set[str]) -> None:
    found = scopes(path, text.encode())
    assert found.parses
    assert found.free - {"p", "u8"} == free
    assert top <= found.top


def test_members_are_defined_or_asked_for() -> None:
    found = scopes("a.js", b"this.size = other.length; class K { grow() {} }\n")
    assert {"size", "grow"} <= found.members
    assert found.asks == {"length"}


def test_members_of_java_are_names_that_something_is_asked_for() -> None:
    text = "class K { int n; void f() { g(); a.n = b.h().k; L::m; } }\nrecord R(int x) {}\n"
    found = scopes("K.java", text.encode())
    assert found.members == {"n", "f", "x"}
    assert found.asks == {"n", "h", "k", "m"}
    assert {"g", "a", "b", "L"} <= found.free


def test_an_import_of_go_that_nothing_uses() -> None:
    text = 'package p\nimport (\n\t"fmt"\n\t"os"\n\tx "net/url"\n\t_ "embed"\n)\n'
    used = text + "func f() { fmt.Println(x.Parse) }\n"
    assert scopes("a.go", used.encode()).idle == {"os"}
    assert scopes("a.go", text.encode()).idle == {"fmt", "os", "x"}


@pytest.mark.parametrize("text", ["function {", "let = ;", "class { (", "const a = [;"])
def test_what_does_not_parse_says_only_that(text: str) -> None:
    found = scopes("a.js", text.encode())
    assert not found.parses
    assert not found.top


def test_files_are_known_by_their_ending() -> None:
    assert [is_known(path) for path in ("a.js", "b.d.ts", "c.py", "Makefile", "go.mod")] == [
        *(True, True),
        *(False, False, False),
    ]


def _change(identifier: str, file: str, patch: str = "") -> Change:
    span = LineSpan(1, 1)
    return Change(identifier, file, file, span, span, patch=patch)


CHANGES = [_change("c1", "lib.js"), _change("c2", "lib.js")]


def _variant(texts: Mapping[str, str], other: str = "") -> VariantText:
    """Variants of a file by the changes that are undone in them; ``other`` did not change."""

    def files_of(reverted: ChangeSet) -> Mapping[str, str]:
        return {"lib.js": texts[" ".join(sorted(reverted))], "other.js": other}

    return VariantText(files_of, str.encode, frozenset({"c1", "c2"}), CHANGES)


RENAMED = {
    "": "function made() {}\nmade();\n",
    "c1": "function old() {}\nmade();\n",
    "c2": "function made() {}\nold();\n",
    "c1 c2": "function old() {}\nold();\n",
}


def test_a_text_that_asks_for_what_is_gone() -> None:
    variant = _variant(RENAMED)
    assert variant.against(frozenset()) == ""
    assert variant.against(frozenset({"c1", "c2"})) == ""
    assert "name 'made' is not defined" in variant.against(frozenset({"c1"}))
    assert "name 'old' is not defined" in variant.against(frozenset({"c2"}))


def test_a_member_that_nothing_defines_any_more_unless_another_file_has_the_word() -> None:
    texts = {
        "": "class K { made() {} }\nnew K().made();\n",
        "c1": "class K { old() {} }\nnew K().made();\n",
        "c2": "class K { made() {} }\nnew K().old();\n",
        "c1 c2": "class K { old() {} }\nnew K().old();\n",
    }
    assert _variant(texts).against(frozenset({"c1"})) == "lib.js: nothing defines 'made'"
    assert _variant(texts, "x.made = 1;").against(frozenset({"c1"})) == ""


def test_a_member_that_a_version_asks_for_without_defining_it_is_defined_elsewhere() -> None:
    """As Java's annotation processors write accessors."""
    texts = {
        "": "@Getter class K { int n; }\nclass L { int m(K k) { return k.n() + 1; } }\n",
        "c1": "class K { int n; int n() { return n; } }\nclass L { int m(K k) { return k.n() + 1; } }\n",
        "c2": "@Getter class K { int n; }\nclass L { int m(K k) { return k.n(); } }\n",
        "c1 c2": "class K { int n; int n() { return n; } }\nclass L { int m(K k) { return k.n(); } }\n",
    }

    def files_of(reverted: ChangeSet) -> Mapping[str, str]:
        return {"K.java": texts[" ".join(sorted(reverted))]}

    changes = [_change("c1", "K.java"), _change("c2", "K.java")]
    variant = VariantText(files_of, str.encode, frozenset({"c1", "c2"}), changes)
    assert variant.against(frozenset({"c2"})) == ""


def test_half_a_text_does_not_parse_and_a_version_that_never_did_is_no_fault() -> None:
    halves = {"": "if (a) {\n}\n", "c1": "if (a) {\n", "c2": "}\n", "c1 c2": "b();\n"}
    assert "it does not parse" in _variant(halves).against(frozenset({"c1"}))
    assert _variant({**halves, "c1 c2": "if (b) {\n"}).against(frozenset({"c1"})) == ""


def test_a_name_that_seems_free_in_a_version_is_no_fault_though_another_file_defines_one() -> None:
    macro = "macro_rules! tell { ($e:expr) => { let at = 1; $e.map_err(|e| show(e, at)) } }\n"

    def files_of(reverted: ChangeSet) -> Mapping[str, str]:
        lib = f"{macro}fn f() {{ {'old' if 'c1' in reverted else 'new'}(); }}\n"
        stream = f"struct S {{ at: {'u8' if 'c2' in reverted else 'u16'} }}\n"
        return {"lib.rs": lib, "stream.rs": stream}

    changes = [_change("c1", "lib.rs"), _change("c2", "stream.rs")]
    variant = VariantText(files_of, str.encode, frozenset({"c1", "c2"}), changes)
    assert "at" in scopes("lib.rs", files_of(frozenset())["lib.rs"].encode()).free
    assert variant.against(frozenset({"c1"})) == ""


@pytest.mark.parametrize(
    ("detail", "said"),
    [
        ("x\nReferenceError: made is not defined\n", "('made')"),
        ("TypeError: lib.made is not a function", "('made')"),
        ("SyntaxError: The module './lib.js' does not provide an export named 'made'", "('made')"),
        ("Error: Cannot find module './lib/made.js'", "('made')"),
        ("ReferenceError: unheard is not defined", ""),
        ("AssertionError: 1 == 2", ""),
    ],
)
def test_a_failure_for_want_of_what_was_taken_away(detail: str, said: str) -> None:
    missed = MissedNames(
        {"c1": _change("c1", "lib.js", "-function made(x) {\n+function old(x) {\n")}
    )
    failed = Outcome(Verdict.UNRESOLVED, Unresolved.DIFFERENT_FAILURE, detail)
    found = missed(frozenset({"c1"}), failed)
    assert found.endswith(said) if said else found == ""
    assert missed(frozenset(), failed) == ""
    assert missed(frozenset({"c1"}), Outcome(Verdict.FAIL, None, detail)) == ""
