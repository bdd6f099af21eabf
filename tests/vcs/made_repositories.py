"""Real repositories for tests: made from flat listings, and random pairs of versions."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pygit2
from hypothesis import strategies as st

from afterd.vcs.trees import EMPTY_TREE, Entry, TreeEditor, TreeReader

FILE, EXECUTABLE, LINK, SUBMODULE = 0o100644, 0o100755, 0o120000, 0o160000
Listing = Mapping[bytes, tuple[int, bytes]]  # path to mode and content (a submodule's: its id)
AUTHOR = pygit2.Signature("A U Thor", "author@example.com", 1_700_000_000)


class Made:
    """A repository that commits flat listings of files."""

    def __init__(self, path: Path, *, bare: bool = False) -> None:
        self.path = path
        self.repository = pygit2.init_repository(path, bare=bare, initial_head="main")
        self._clock = AUTHOR.time

    def tree(self, listing: Listing) -> str:
        """Store a listing as a tree."""
        editor = TreeEditor(TreeReader(self.repository), EMPTY_TREE)
        blobs: dict[bytes, str] = {}
        for path, (mode, content) in listing.items():
            if mode == SUBMODULE:
                editor.put(path, Entry(mode, content.hex()))
                continue
            if content not in blobs:
                blobs[content] = str(self.repository.create_blob(content))
            editor.put(path, Entry(mode, blobs[content]))
        return editor.write()

    def commit(self, listing: Listing, *parents: str, ref: str | None = "HEAD") -> str:
        """Commit a listing; with ``ref``, on top of what it names unless parents are given."""
        if ref and not parents and not self.repository.head_is_unborn:
            parents = (str(self.repository.revparse_single(ref).id),)
        self._clock += 60
        author = pygit2.Signature(AUTHOR.name, AUTHOR.email, self._clock)
        target = ref if ref and (not parents or self._is_tip(ref, parents[0])) else None
        made = self.repository.create_commit(
            target, author, author, "made", self.tree(listing), list(parents)
        )
        return str(made)

    def text(self, **files: str) -> str:
        """Commit text files named like ``main__c`` for ``main.c``."""
        return self.commit(texts(**files))

    def listing(self, revision: str) -> dict[bytes, tuple[int, bytes]]:
        """The files of a revision or tree."""
        return read_listing(self.repository, revision)

    def _is_tip(self, ref: str, commit: str) -> bool:
        if self.repository.head_is_unborn:
            return False
        return str(self.repository.revparse_single(ref).id) == commit


def texts(**files: str) -> dict[bytes, tuple[int, bytes]]:
    """A listing of text files named like ``src_main__c`` for ``src_main.c``."""
    return {
        name.replace("__", ".").encode(): (FILE, content.encode())
        for name, content in files.items()
    }


def read_listing(repository: pygit2.Repository, revision: str) -> dict[bytes, tuple[int, bytes]]:
    """The files below a commit or tree, read through pygit2's own trees."""
    found: dict[bytes, tuple[int, bytes]] = {}

    def walk(tree: pygit2.Tree, prefix: bytes) -> None:
        for item in tree:
            assert item.raw_name is not None
            path = prefix + item.raw_name
            if isinstance(item, pygit2.Tree):
                walk(item, path + b"/")
            elif isinstance(item, pygit2.Blob):
                found[path] = (int(item.filemode), item.data)
            else:
                found[path] = (SUBMODULE, bytes.fromhex(str(item.id)))

    walk(repository[revision].peel(pygit2.Tree), b"")
    return found


def git(directory: Path, *arguments: str, **environment: str) -> str:
    """Run the real git, apart from the user's configuration."""
    base = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.com",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.com",
    }
    done = subprocess.run(
        ["git", "-c", "init.defaultBranch=main", *arguments],
        cwd=directory,
        env=base | environment,
        check=False,
        capture_output=True,
    )
    assert done.returncode == 0, (arguments, done.stderr.decode("utf-8", "replace"))
    return done.stdout.decode("utf-8", "surrogateescape")


_PATHS = st.sampled_from(
    [
        *(b"a", b"a/x", b"a/y/z.c", b"b.c", b"d/e.py", b"d/f.py", b"a.b", b"a-b", b"with space"),
        *(b"caf\xc3\xa9.txt", b"latin-\xe9.c", b"Makefile", b"tests/test_a.py", b"README.md"),
    ]
)
_LINES = st.sampled_from(
    [
        *(b"", b"int f(void) {", b"}", b"  return 1;", b"  return 2;", b"x = 1", b"y = 2\r"),
        *(b"\xe9\xff", b"/* c", b"*/", b"#if A", b"#endif", b"def f():", b"    pass", b'"""'),
        *(b"\tall: x", b"\\"),
    ]
)


@st.composite
def _texts(draw: st.DrawFn) -> bytes:
    lines = draw(st.lists(_LINES, max_size=14))
    end = draw(st.sampled_from([b"\n", b""]))
    return b"\n".join(lines) + (end if lines else b"")


_CONTENTS = st.one_of(
    _texts(), _texts(), _texts(), st.sampled_from([b"", b"\0\1\2", b"bin\0ary", b"\r\n\r\n", b"x"])
)
_FILES = st.tuples(st.sampled_from([FILE, FILE, EXECUTABLE]), _CONTENTS)
_ENTRIES = st.one_of(
    *(_FILES, _FILES, _FILES, _FILES),
    st.tuples(st.just(LINK), st.sampled_from([b"a", b"../x", b"/etc/passwd"])),
    st.tuples(st.just(SUBMODULE), st.sampled_from([b"\1" * 20, b"\2" * 20])),
)


def _without_clashes(files: Listing) -> dict[bytes, tuple[int, bytes]]:
    """A path that is a file is no directory: the first one stays."""
    kept: dict[bytes, tuple[int, bytes]] = {}
    for path, entry in files.items():
        if not any(clash(path, other) for other in kept):
            kept[path] = entry
    return kept


def clash(one: bytes, other: bytes) -> bool:
    """Whether one path would have to be a directory for the other."""
    return one.startswith(other + b"/") or other.startswith(one + b"/")


@st.composite
def _edited(draw: st.DrawFn, content: bytes) -> bytes:
    lines = content.split(b"\n")
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(lines)))
        gone = draw(st.integers(0, 2))
        lines[place : place + gone] = draw(st.lists(_LINES, max_size=3))
    return b"\n".join(lines)


@st.composite
def versions(draw: st.DrawFn) -> tuple[Listing, Listing]:
    """A good and a bad version: edits, renames, modes, types, files that come and go."""
    good = _without_clashes(draw(st.dictionaries(_PATHS, _ENTRIES, max_size=7)))
    bad = dict(good)
    for path, (mode, content) in good.items():
        what = draw(st.sampled_from(["keep", "edit", "edit", "rename", "mode", "drop", "replace"]))
        if what in {"rename", "drop"}:
            del bad[path]
        if what == "rename":
            edited = draw(_edited(content)) if mode in {FILE, EXECUTABLE} else content
            bad[draw(_PATHS)] = (mode, draw(st.sampled_from([content, edited])))
        elif what == "edit" and mode in {FILE, EXECUTABLE}:
            bad[path] = (mode, draw(_edited(content)))
        elif what == "mode" and mode in {FILE, EXECUTABLE}:
            bad[path] = (
                FILE + EXECUTABLE - mode,
                draw(st.one_of(st.just(content), _edited(content))),
            )
        elif what == "replace":
            bad[path] = draw(_ENTRIES)
    bad |= draw(st.dictionaries(_PATHS, _ENTRIES, max_size=3))
    return good, _without_clashes(dict(sorted(bad.items(), key=lambda item: hash(item[0]))))
