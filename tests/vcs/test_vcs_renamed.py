"""Names that were given otherwise: what else was altered on their lines can be undone alone."""

from __future__ import annotations

from pathlib import Path

from made_repositories import Made, read_listing, texts

from afterd.causality.deltas.closure import Closure
from afterd.model.change import ChangeList
from afterd.vcs.c_names import change_names
from afterd.vcs.diff import changes_between
from afterd.vcs.variants import Variants

GOOD = """\
static int skip(int at)
{
    return at + 1;
}

static int left(int at, int end)
{
    return skip(at) < end;
}

int read_all(int at, int end)
{
    int count = 0;

    while (left(at, end) && count < 9) {
        at = skip(at);
        count++;
    }
    return count;
}
"""
BAD = GOOD.replace("skip", "text_skip").replace("left", "text_left").replace("< end", "<= end")


def variants_of(made: Made, good: str, bad: str) -> tuple[Variants, ChangeList]:
    ends = [made.commit(texts(a__c=text)) for text in (good, bad)]
    changes = changes_between(made.repository, ends[0], ends[1])
    return Variants(made.repository, ends[0], ends[1], changes), changes


def text_of(variants: Variants, undone: frozenset[str]) -> str:
    return read_listing(variants.store, variants.tree(undone))[b"a.c"][1].decode()


def test_what_was_altered_beside_a_new_name_is_undone_in_new_names(tmp_path: Path) -> None:
    variants, changes = variants_of(Made(tmp_path / "r"), GOOD, BAD)
    assert variants.renamed.names == {b"skip": b"text_skip", b"left": b"text_left"}
    (guilty,) = [change.id for change in changes.changes if "<= end" in change.patch]
    assert text_of(variants, frozenset([guilty])) == BAD.replace("<= end", "< end")
    for change in changes.ids - {guilty}:
        assert text_of(variants, frozenset([change])) == BAD
    assert text_of(variants, changes.ids) == GOOD


def test_an_answer_shows_what_comes_back_in_the_names_that_stand(tmp_path: Path) -> None:
    variants, changes = variants_of(Made(tmp_path / "r"), GOOD, BAD)
    (guilty,) = [change for change in changes.changes if "<= end" in change.patch]
    renamed = variants.renamed
    shown = renamed.as_undone(guilty, renamed.standing(frozenset([guilty.id])))
    assert "-    return text_skip(at) < end;" in shown.patch
    assert renamed.as_undone(guilty, renamed.standing(changes.ids)) == guilty


def test_a_name_is_taken_back_where_all_that_have_it_are_undone(tmp_path: Path) -> None:
    variants, changes = variants_of(Made(tmp_path / "r"), GOOD, BAD)
    left = frozenset(
        each.id for each in changes.changes if "text_left" in each.patch or "<= end" in each.patch
    )
    assert text_of(variants, left) == BAD.replace("text_left", "left").replace("<= end", "< end")


def test_a_name_that_is_still_there_or_became_two_is_none_of_these(tmp_path: Path) -> None:
    kept = BAD + "\nint skip(int at)\n{\n    return at;\n}\n"
    variants, _ = variants_of(Made(tmp_path / "kept"), GOOD, kept)
    assert b"skip" not in variants.renamed.names
    two = BAD.replace("at = text_skip", "at = pass_over")
    variants, _ = variants_of(Made(tmp_path / "two"), GOOD, two)
    assert b"skip" not in variants.renamed.names


def test_what_was_altered_beside_a_new_name_asks_for_none_of_its_uses(tmp_path: Path) -> None:
    variants, changes = variants_of(Made(tmp_path / "r"), GOOD, BAD)
    old, new = variants.renamed.in_new_names(GOOD.encode()), {"a.c": BAD.encode()}
    before, after = (
        Closure(*change_names(changes.changes, {"a.c": text}.get, new.get))
        for text in (GOOD.encode(), old)
    )
    (guilty,) = [frozenset([each.id]) for each in changes.changes if "<= end" in each.patch]
    assert before.needed(guilty)
    assert not any(after.needed(frozenset([change])) for change in changes.ids)


def test_a_name_of_a_file_that_was_deleted_stays_as_it_was(tmp_path: Path) -> None:
    made = Made(tmp_path / "r")
    more = "int skip_all(void)\n{\n    return skip(7);\n}\n"
    good = made.commit(texts(a__c=GOOD, b__c=more))
    bad = made.commit(texts(a__c=BAD))
    changes = changes_between(made.repository, good, bad)
    assert b"skip" not in Variants(made.repository, good, bad, changes).renamed.names
