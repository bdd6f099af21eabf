"""FindAuxChange: minimal sets that make a variant build, at the price of few builds."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_changes import change, ids, made

from afterd.causality.auxiliary import AuxiliarySearch
from afterd.causality.standing import Standing
from afterd.causality.worth import Worth, counted_questions
from afterd.limits import SEARCH, WORK
from afterd.model.change import NOTHING, ChangeForm, ChangeSet

COUNT = 24
_SOME = st.frozensets(st.sampled_from(sorted(ids(COUNT) - {"c1"})), min_size=1, max_size=4)


class Needs:
    """Programs in which c1 builds only with ``along``; the linker's part of it a compiler misses."""

    def __init__(self, along: ChangeSet, linker: ChangeSet = frozenset()) -> None:
        self.along = along
        self.linker = linker
        self.built = 0

    def builds(self, reverted: ChangeSet) -> bool:
        """A whole build."""
        self.built += 1
        return self.along | self.linker <= reverted

    def against(self, reverted: ChangeSet) -> str:
        """The syntax alone."""
        return "" if self.along <= reverted else "error: no member named 'x'"


def _search(needs: Needs, *, told: bool) -> AuxiliarySearch:
    changes, everything = made(COUNT), ids(COUNT)
    if told:
        return AuxiliarySearch(needs.builds, changes, everything, Standing(needs.against))
    return AuxiliarySearch(needs.builds, changes, everything)


@given(along=_SOME)
def test_a_compiler_that_tells_saves_all_builds_but_one(along: ChangeSet) -> None:
    needs = Needs(along)
    assert _search(needs, told=True).find(frozenset({"c1"})) == along
    assert needs.built == 1


@given(along=_SOME, linker=st.frozensets(st.sampled_from(sorted(ids(COUNT) - {"c1"})), max_size=1))
def test_what_only_a_linker_misses_is_found_with_builds(
    along: ChangeSet, linker: ChangeSet
) -> None:
    needs = Needs(along, linker)
    assert _search(needs, told=True).find(frozenset({"c1"})) == along | linker


@given(along=_SOME)
def test_without_a_compiler_builds_alone_find_the_same(along: ChangeSet) -> None:
    assert _search(Needs(along), told=False).find(frozenset({"c1"})) == along


def test_it_is_none_where_nothing_helps() -> None:
    search = AuxiliarySearch(lambda _reverted: False, made(3), frozenset({"c9"}))
    assert search.find(frozenset({"c1"})) is None


NAMES = ("one", "two", "three")


def test_complaints_are_answered_one_after_the_other() -> None:
    """jq: 17 of the likeliest changes together built less than the three that errors asked for."""
    chain = {f"c{i + 2}": f"-int {name};\n" for i, name in enumerate(NAMES)}
    changes = {
        identifier: replace(change, patch=chain.get(identifier, "-int other;\n"), file="a.c")
        for identifier, change in made(COUNT).items()
    }
    asked = []

    def against(reverted: ChangeSet) -> str:
        asked.append(reverted)
        if reverted - {"c1", *chain}:
            return "a.c:1:1: error: use of undeclared identifier 'unrelated'"
        for identifier, name in zip(chain, NAMES, strict=True):
            if identifier not in reverted:
                return f"a.c:1:1: error: unknown name '{name}'"
        return ""

    search = AuxiliarySearch(Needs(frozenset(chain)).builds, changes, ids(COUNT), Standing(against))
    assert search.find(frozenset({"c1"})) == frozenset(chain)
    assert len(asked) < 12


def test_what_a_build_says_is_answered_as_a_compilers_word_is() -> None:
    """Of tidy the linker named the functions that were missing, of muparser gcc what clang takes: prefixes of all
    changes were built instead, up to twelve of them for one set.
    """
    chain = {f"c{i + 12}": f"-int {name};\n" for i, name in enumerate(NAMES)}
    changes = {
        identifier: replace(change, patch=chain.get(identifier, "-int other;\n"), file="a.c")
        for identifier, change in made(COUNT).items()
    }
    built = []

    def builds(reverted: ChangeSet) -> bool:
        built.append(reverted)
        return chain.keys() <= reverted

    def refused(reverted: ChangeSet) -> str:
        missing = next(name for key, name in zip(chain, NAMES, strict=True) if key not in reverted)
        return f"ld: a.o: in function `main': a.c:3: undefined reference to `{missing}'"

    standing = Standing(lambda _reverted: "")
    search = AuxiliarySearch(builds, changes, ids(COUNT), standing, refused=refused)
    assert search.find(frozenset({"c1"}), refused(NOTHING)) == frozenset(chain)
    assert len(built) == len(NAMES)


def test_who_took_a_definition_away_is_asked_before_who_mentions_its_name() -> None:
    """Libxkbcommon: a member was gone from a header, and all of the source file who mention it went along instead."""
    changes = {
        identifier: replace(each, patch="-int kept;\n", file="a.c" if identifier != "c9" else "a.h")
        for identifier, each in made(COUNT).items()
    }
    asked = []

    def against(reverted: ChangeSet) -> str:
        asked.append(reverted)
        return (
            "" if "c9" in reverted else "a.c:3:5: error: no member named 'kept' in 'struct level'"
        )

    search = AuxiliarySearch(
        lambda _reverted: True,
        changes,
        ids(COUNT),
        Standing(against),
        brings=lambda words: frozenset({"c9"}) if "kept" in words else NOTHING,
    )
    assert search.find(frozenset({"c1"})) == frozenset({"c9"})
    assert len(asked) <= 2


@pytest.mark.parametrize("brings", ["back", "no longer"])
def test_a_file_that_is_not_there_asks_for_who_renamed_it_or_who_wants_it(brings: str) -> None:
    """Pcre2: a renamed header template, and a source that was new in a list of CMake's; prefixes were built instead."""
    changes = {
        identifier: replace(each, patch="-int other;\n", file="a.c")
        for identifier, each in made(COUNT).items()
    }
    if brings == "back":
        changes["c9"] = replace(
            changes["c9"], form=ChangeForm.RENAMED, old_file="lib/old.h.in", file="lib/new.h.in"
        )
    else:
        changes["c9"] = replace(changes["c9"], file="CMakeLists.txt", patch="+  old.h.in\n")
    built = []

    def builds(reverted: ChangeSet) -> bool:
        built.append(reverted)
        return "c9" in reverted

    said = "CMake Error: File old.h.in does not exist."
    search = AuxiliarySearch(
        builds, changes, ids(COUNT), Standing(lambda _reverted: ""), refused=lambda _reverted: said
    )
    assert search.find(frozenset({"c1"}), said) == frozenset({"c9"})
    assert len(built) == 1


def test_who_includes_the_systems_header_that_clashes_goes_along() -> None:
    """Programs of before ANSI C declare malloc themselves, and clash with a header that the later version includes:
    gcc names malloc, and the changes that mention it were undone one after the other.
    """
    changes = {
        identifier: replace(each, patch="-  p = malloc (1);\n+  p = xmalloc (1);\n", file="a.c")
        for identifier, each in made(COUNT).items()
    }
    changes["c1"] = replace(changes["c1"], file="sys.h", patch="-char *malloc ();\n")
    changes["c7"] = replace(changes["c7"], patch="+#include <stdlib.h>\n")
    changes["c9"] = replace(changes["c9"], file="b.c", patch="+# include <stdlib.h>\n+int b;\n")
    built = []

    def builds(reverted: ChangeSet) -> bool:
        built.append(reverted)
        return {"c1", "c7", "c9"} <= reverted

    said = (
        "In file included from a.c:3:\n"
        "/usr/include/stdlib.h:553:14: error: conflicting types for ‘malloc’; have ‘void *(size_t)’\n"
        "  553 | extern void *malloc (size_t __size) __THROW\n"
        "sys.h:87:7: note: previous declaration of ‘malloc’ with type ‘char *()’\n"
        "   87 | char *malloc ();\n"
    )
    search = AuxiliarySearch(
        builds, changes, ids(COUNT), Standing(lambda _reverted: ""), refused=lambda _reverted: said
    )
    assert search.find(frozenset({"c1"}), said) == frozenset({"c7", "c9"})
    assert len(built) == 1


def test_a_complaint_that_nothing_answers_is_given_up() -> None:
    """argparse: twelve more changes, one at a time, and the same brace was missing each time."""
    asked: list[ChangeSet] = []

    def against(reverted: ChangeSet) -> str:
        asked.append(reverted)
        return f"a.c:{400 + len(asked)}:5: error: expected ';' after 'other'\n {len(asked)} |  }}\n"

    changes = {
        identifier: replace(change, patch="-int other;\n", file=f"{identifier}.c")
        for identifier, change in made(COUNT).items()
    }
    search = AuxiliarySearch(lambda _reverted: True, changes, ids(COUNT), Standing(against))
    assert search.along("c1") is None
    assert len(asked) == SEARCH.in_vain + 1


@pytest.mark.parametrize(("each", "prefixes"), [(1, 6), (WORK.second, 2)])
def test_prefixes_are_tried_while_that_costs_less_than_runs(each: int, prefixes: int) -> None:
    """A header that takes as long to read as the test to build and run is not read for each of them."""
    asked: list[ChangeSet] = []

    def against(reverted: ChangeSet) -> str:
        asked.append(reverted)
        return "error: expected expression"  # names nothing: what is tried are prefixes

    standing = Standing(against, work=lambda: len(asked) * each)
    search = AuxiliarySearch(
        lambda _reverted: True,
        made(COUNT),
        frozenset({"c99"}),
        standing,
        worth=Worth(run=WORK.second // 2),
    )
    assert search.find(frozenset({"c1"})) is None
    assert len(asked) == 1 + prefixes


def test_a_compiler_that_was_asked_in_vain_for_what_names_need_is_not_asked_again() -> None:
    """tomlc99: parts of a rewritten function were asked for twice each, a third of all questions to the compiler."""
    asked: list[ChangeSet] = []

    def against(reverted: ChangeSet) -> str:
        asked.append(reverted)
        return f"error: expected expression {len(asked)}"

    search = AuxiliarySearch(
        lambda _reverted: False,
        made(COUNT),
        frozenset({"c99"}),
        Standing(against, work=lambda: len(asked) * WORK.second),
        needed=lambda reverted: frozenset({"c9"}) - reverted,
    )
    assert search.by_names(frozenset({"c1"})) == NOTHING
    before = len(asked)
    assert search.find(frozenset({"c1"})) is None
    assert len(asked) == before


@pytest.mark.parametrize(("each", "questions"), [(1, 13), (WORK.second, 4)])
def test_what_a_suspect_takes_along_is_asked_while_that_costs_less_than_a_run(
    each: int, questions: int
) -> None:
    """Jsonnet: each of a dozen complaints about one suspect was answered by reading eight C++ files again."""
    asked: list[ChangeSet] = []
    names = [f"name{number}" for number in range(2, COUNT)]

    def against(reverted: ChangeSet) -> str:
        asked.append(reverted)
        return f"a.c:1:1: error: use of undeclared identifier '{names[len(reverted) - 1]}'"

    changes = {
        identifier: replace(each_change, patch=f"-int {name};\n", file="a.c")
        for (identifier, each_change), name in zip(
            made(COUNT).items(), ["", *names, ""], strict=True
        )
    }
    standing = Standing(against, work=lambda: len(asked) * each)
    search = AuxiliarySearch(
        lambda _reverted: True, changes, ids(COUNT), standing, worth=Worth(run=2 * WORK.second)
    )
    assert search.along("c1") is None
    assert len(asked) == questions


@pytest.mark.parametrize(
    ("missing", "along"), [("two", frozenset({"c2"})), ("nowhere", None), ("", NOTHING)]
)
def test_what_must_go_along_is_known_without_a_build(missing: str, along: ChangeSet | None) -> None:
    helpful = replace(made(COUNT)["c2"], patch="-int two;\n", file="a.c")
    changes = {**made(COUNT), "c2": helpful}

    def against(reverted: ChangeSet) -> str:
        return (
            f"a.c:1:1: error: unknown name '{missing}'" if missing and "c2" not in reverted else ""
        )

    search = AuxiliarySearch(lambda _reverted: True, changes, ids(COUNT), Standing(against))
    assert search.along("c1") == along
    assert search.builds == 0


def test_a_shown_line_names_its_change_and_a_named_function_its_head() -> None:
    """c-ares: "too few arguments" quotes nothing, and a definition's parameters stand below its name."""
    patches = {
        "c2": "+  status = expand(a, b, 0);\n",
        "c3": "-                int alen)\n+                int alen, int host)\n",
    }
    changes = {
        identifier: replace(change, patch=patches.get(identifier, "-int other;\n"), file="a.c")
        for identifier, change in made(COUNT).items()
    }
    changes["c3"] = replace(changes["c3"], symbol="name_length")
    asked = []

    def against(reverted: ChangeSet) -> str:
        asked.append(reverted)
        if "c2" not in reverted:
            return "a.c:7:2: error: too many arguments\n  status = expand(a, b, 0);\n  ^\n"
        return "" if "c3" in reverted else "a.c:9:1: error: conflicting types for 'name_length'"

    search = AuxiliarySearch(
        Needs(frozenset(patches)).builds, changes, ids(COUNT), Standing(against)
    )
    assert search.find(frozenset({"c1"})) == frozenset(patches)
    assert len(asked) < 8


def test_what_needs_very_many_others_is_given_up_within_twenty_builds() -> None:
    """c-ares: the 130 changes that went along with its suspects cost 46 builds without an end."""
    needs = Needs(frozenset(f"c{i}" for i in range(2, 160)), frozenset({"c199"}))
    search = AuxiliarySearch(needs.builds, made(200), ids(200), Standing(needs.against))
    assert search.find(frozenset({"c1"})) is None
    linked = Needs(frozenset(), frozenset(f"c{i}" for i in range(2, 160)))
    search = AuxiliarySearch(linked.builds, made(200), ids(200), Standing(linked.against))
    assert search.find(frozenset({"c1"})) is None
    assert needs.built + linked.built <= 20


def test_what_took_the_missing_name_away_is_asked_for_first() -> None:
    """pathspec: undoing c1 reads ``match`` again, which c2 no longer imports, and many mention."""
    patches = {
        1: "-    go = static(match)",
        2: "-    match,",
        3: "-static(match)\n+static(match, 1)",
    }
    changes = {f"c{n}": change(n, patch=patches.get(n, f"+static(match{n})")) for n in range(1, 9)}
    asked: list[ChangeSet] = []

    def builds(reverted: ChangeSet) -> bool:
        asked.append(reverted)
        return {"c1", "c2"} <= reverted

    search = AuxiliarySearch(builds, changes, ids(8), Standing(proves=False))
    said = "NameError: name 'match' is not defined"
    assert search.find(frozenset({"c1"}), said) == frozenset({"c2"})
    assert asked == [{"c1", "c2"}]


def test_where_a_file_does_not_parse_the_nearest_change_goes_along() -> None:
    """click: half of a re-indented function; that ``break`` is quoted says nothing."""
    changes = {f"c{n}": change(n, file="f.py", patch="+    x = 1") for n in range(1, 6)}
    changes["c6"] = change(6, file="g.py", patch="+        break")

    def suspicion(reverted: ChangeSet) -> str:
        halved = "c3" in reverted and "c4" not in reverted
        return "f.py: SyntaxError: 'break' outside loop (, line 30)" if halved else ""

    search = AuxiliarySearch(lambda _: True, changes, ids(6), Standing(suspicion, proves=False))
    found = search.find(frozenset({"c3"}))
    assert found is not None
    assert found == frozenset({"c4"})


def test_a_program_that_crashes_while_it_builds_asks_for_nobody() -> None:
    """QuickJS compiles its own text with what was just built: prefixes of all changes were built for each crash."""
    built = []

    def builds(reverted: ChangeSet) -> bool:
        built.append(reverted)
        return False

    said = "make: *** [Makefile:315: repl.c] Segmentation fault\nmake: *** Deleting file 'repl.c'"
    search = AuxiliarySearch(
        builds, made(COUNT), ids(COUNT), Standing(lambda _: ""), refused=lambda _: said
    )
    assert search.find(frozenset({"c1"}), said) is None
    assert not built


def test_what_builds_asked_for_is_known_of_those_that_have_all_that_asked() -> None:
    """Libxkbcommon: a grammar is read by no compiler of single files, and each of twenty sets in a row was built
    without the same two changes, and then with them.
    """
    names = {"c1": "-int other;\n", "c9": "-int kept;\n"}
    changes = {
        identifier: replace(each, patch=names.get(identifier, "-int more;\n"), file="a.y")
        for identifier, each in made(COUNT).items()
    }
    built: list[ChangeSet] = []

    def builds(reverted: ChangeSet) -> bool:
        built.append(reverted)
        return "c3" not in reverted or "c9" in reverted

    search = AuxiliarySearch(
        builds,
        changes,
        ids(COUNT),
        Standing(lambda _reverted: ""),
        refused=lambda _: "ld: a.c:3: undefined reference to `kept'",
    )
    whole = ids(6)
    for left_out in ("c4", "c5"):
        assert search.find(whole - {left_out}, "undefined reference to `kept'") == frozenset({"c9"})
    before = len(built)
    assert search.named(whole - {"c6"}) == NOTHING  # who asked may be that one
    assert search.named(frozenset({"c1", "c2", "c3", "c6"})) == frozenset({"c9"})
    assert search.by_names(frozenset({"c1", "c2", "c3", "c6", "c7"})) == frozenset({"c9"})
    assert len(built) == before


def test_a_name_of_one_letter_is_asked_for_where_it_was_taken_away() -> None:
    """Mbed TLS: a macro's body declared the C that another one's uses; nobody was asked, and the guilty change was said
    to need very many others.
    """
    changes = {
        identifier: replace(each, patch="-int other;\n+int C2;\n", file="a.c")
        for identifier, each in made(COUNT).items()
    }
    changes["c9"] = replace(changes["c9"], patch="-    mpi C;     \\\n")
    changes["c10"] = replace(changes["c10"], patch="-    f(C, 1);\n+    f(C, 2);\n")

    def against(reverted: ChangeSet) -> str:
        return "" if "c9" in reverted else "a.c:3:5: error: use of undeclared identifier 'C'"

    search = AuxiliarySearch(lambda _reverted: True, changes, ids(COUNT), Standing(against))
    assert search.along("c1") == frozenset({"c9"})


def test_what_compilers_are_asked_counts_among_the_builds_of_one_search() -> None:
    """mpack: two builds, and a hundred questions to a compiler between them, about parts of what one set needs."""
    asked: list[ChangeSet] = []

    def against(reverted: ChangeSet) -> str:
        asked.append(reverted)
        return "" if len(reverted) in {1, COUNT - 1, COUNT} else "f.c:1:1: error: half of it"

    def builds(reverted: ChangeSet) -> bool:
        return len(reverted) >= COUNT - 1

    standing = counted_questions(Standing(against), WORK.second)
    search = AuxiliarySearch(
        builds, made(COUNT), ids(COUNT), standing, worth=Worth(run=WORK.second)
    )
    search.find(frozenset({"c1"}))
    assert len(asked) <= SEARCH.builds_when_told + 1
