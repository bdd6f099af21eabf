"""Releases out of a real pip, and files out of archives."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from pygit2.enums import FileMode

from afterd.bench.archive import File, chosen_files, files_inside, files_of
from afterd.bench.case import UnavailableError
from afterd.bench.releases import Registry, Release, Releases, cache_directory

# A source distribution that needs nothing to say what it is: its build back end is inside.
BACK_END = """
from pathlib import Path
def prepare_metadata_for_build_wheel(directory, config_settings=None):
    folder = Path(directory, "sample_program-1.0.dist-info")
    folder.mkdir()
    folder.joinpath("METADATA").write_text("Metadata-Version: 2.1\\nName: sample-program\\nVersion: 1.0\\n")
    return folder.name
def build_wheel(directory, config_settings=None, metadata_directory=None):
    raise NotImplementedError
"""
PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "sample-program"
version = "1.0"
"""
RELEASE = Release(Registry.PYPI, "sample-program", "1.0")


def tar(path: Path, files: Mapping[str, str], **links: str) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            member.mode = 0o755 if text.startswith("#!") else 0o644
            archive.addfile(member, io.BytesIO(text.encode()))
        for name, target in links.items():
            member = tarfile.TarInfo(f"top/{name}")
            member.type, member.linkname = tarfile.SYMTYPE, target
            archive.addfile(member)
    return path


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all that pip looks at."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_pip_fetches_a_release_once(index: Path, tmp_path: Path) -> None:
    top = "sample_program-1.0"
    sources = {f"{top}/pyproject.toml": PROJECT, f"{top}/backend.py": BACK_END}
    published = tar(
        index / f"{top}.tar.gz", {**sources, f"{top}/PKG-INFO": "Name: sample-program\n"}
    )
    releases = Releases(tmp_path / "cache")
    archive = releases.archive(RELEASE)
    assert set(files_of(archive)) == {"pyproject.toml", "backend.py", "PKG-INFO"}
    published.unlink()
    assert Releases(tmp_path / "cache").archive(RELEASE) == archive
    assert [path.name for path in archive.parent.parent.iterdir()] == ["sample-program-1.0"]


def test_a_silent_registry_is_not_waited_for_again(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not list(index.iterdir())
    releases = Releases(tmp_path / "cache")
    for _ in range(2):
        with pytest.raises(UnavailableError, match=r"sample-program 1\.0 cannot be had from PyPI"):
            releases.archive(RELEASE)
    monkeypatch.setenv("PATH", "")  # nothing is started any more
    with pytest.raises(UnavailableError, match="PyPI is out of reach"):
        releases.archive(RELEASE)


def test_a_missing_client_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UnavailableError, match="npm is not installed"):
        Releases(tmp_path).archive(Release(Registry.NPM, "sample", "1.0"))


def test_the_cache_is_where_the_user_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_directory() == Path("/somewhere/afterd")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert cache_directory() == Path("/home/somebody/.cache/afterd")


def test_files_of_an_archive_keep_mode_and_links(tmp_path: Path) -> None:
    files = files_of(
        tar(tmp_path / "a.tgz", {"top/run": "#!/bin/sh\n", "top/d/x.c": "x"}, link="x.c")
    )
    assert files == {
        "run": File(b"#!/bin/sh\n", FileMode.BLOB_EXECUTABLE),
        "d/x.c": File(b"x"),
        "link": File(b"x.c", FileMode.LINK),
    }


def test_no_path_leaves_the_release(tmp_path: Path) -> None:
    hostile = {"top/../../x": "1", "top/.git/config": "2", "/top/y": "3", "top/good": "4"}
    assert set(files_of(tar(tmp_path / "a.tgz", hostile))) <= {"good", "top/y"}


def test_a_zip_is_read_too(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("top/x.py", "x")
        archive.writestr("top/folder/", "")
    assert files_of(tmp_path / "a.zip") == {"x.py": File(b"x")}


@pytest.mark.parametrize("name", ["a.tgz", "a.zip"])
def test_rubbish_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"not an archive")
    with pytest.raises(UnavailableError, match=rf"The archive {name} cannot be read"):
        files_of(tmp_path / name)


def test_an_archive_in_an_archive(tmp_path: Path) -> None:
    inner = tar(tmp_path / "inner.tar.gz", {"jq-1/src/a.c": "a"}).read_bytes()
    outer = {"deps/jq-1.tar.gz": File(inner), "setup.py": File(b"")}
    assert files_inside(outer, "deps/jq-*.tar.gz") == {"src/a.c": File(b"a")}
    with pytest.raises(UnavailableError, match="0 files of the release"):
        files_inside(outer, "deps/onig-*.tar.gz")


def test_folders_are_kept_and_dropped() -> None:
    files = {name: File(b"") for name in ("src/a.c", "src/vendor/b.c", "srcs/c.c", "doc")}
    assert set(chosen_files(files, keep=("src",))) == {"src/a.c", "src/vendor/b.c"}
    assert set(chosen_files(files, drop=("src/vendor", "doc"))) == {"src/a.c", "srcs/c.c"}
    assert chosen_files(files) == files
