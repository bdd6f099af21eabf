"""Trees sent as packs: what arrives is the tree, and no more is sent than is new."""

from __future__ import annotations

import pygit2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from afterd.errors import RepositoryError
from afterd.vcs.object_store import Pack, keep, tree_pack
from afterd.vcs.trees import TreeReader

NAMES = st.sampled_from(["a", "b", "d/a", "d/b", "d/e/f", "x/y"])
TREES = st.dictionaries(NAMES, st.binary(max_size=6), max_size=6)


def written(repository: pygit2.Repository, files: dict[str, bytes]) -> str:
    index = pygit2.Index()
    for name, content in files.items():
        blob = repository.create_blob(content)
        index.add(pygit2.IndexEntry(name, blob, pygit2.enums.FileMode.BLOB))
    return str(index.write_tree(repository))


def contents(repository: pygit2.Repository, tree: str) -> dict[str, bytes]:
    reader = TreeReader(repository)
    return {path.decode(): reader.read(entry.id) for path, entry in reader.files(tree)}


@pytest.fixture(scope="module")
def sender(tmp_path_factory: pytest.TempPathFactory) -> pygit2.Repository:
    return pygit2.init_repository(tmp_path_factory.mktemp("sender"), bare=True)


@given(base=TREES, files=TREES)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_tree_arrives(
    sender: pygit2.Repository,
    tmp_path_factory: pytest.TempPathFactory,
    base: dict[str, bytes],
    files: dict[str, bytes],
) -> None:
    first, second = written(sender, base), written(sender, files)
    place = tmp_path_factory.mktemp("receiver")
    receiver = pygit2.init_repository(place, bare=True)
    keep(place, tree_pack(sender, first))
    assert contents(receiver, first) == base
    beyond = tree_pack(sender, second, first)
    keep(place, beyond)
    keep(place, beyond)
    assert contents(receiver, second) == files
    assert (beyond == Pack()) == (first == second)


def test_only_what_is_new_is_sent(sender: pygit2.Repository) -> None:
    files = {f"d{n % 9}/f{n}": bytes([n % 256]) * 3000 for n in range(500)}
    whole = written(sender, files)
    changed = written(sender, files | {"d1/f1": b"new"})
    assert len(tree_pack(sender, whole).data) > 10_000
    assert len(tree_pack(sender, changed, whole).data) < 5_000  # a blob, its folder, the top


def test_a_submodule_is_not_followed_and_what_is_missing_is_said(
    sender: pygit2.Repository,
) -> None:
    builder = sender.TreeBuilder()
    builder.insert("sub", "1" * 40, pygit2.enums.FileMode.COMMIT)
    assert tree_pack(sender, str(builder.write())).data
    with pytest.raises(RepositoryError):
        tree_pack(sender, "2" * 40)
