"""Files out of a release's archive, in memory: nothing is unpacked to disk, so no path escapes."""

from __future__ import annotations

import fnmatch
import io
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pygit2.enums import FileMode

from afterd.bench.case import UnavailableError
from afterd.limits import MIB

_LARGEST = 512 * MIB  # of all files of an archive together


@dataclass(frozen=True, slots=True)
class File:
    """A file's content (a link's target) and its git mode."""

    content: bytes
    mode: FileMode = FileMode.BLOB


Files = Mapping[str, File]
"""Files by path, relative to the release's top folder."""


def files_of(archive: Path) -> Files:
    """The files of a ``.tar.gz``, ``.tgz`` or ``.zip``, without the top folder that holds them all.

    Raises UnavailableError when it cannot be read, or unpacks to more than a program's source.
    """
    return _read(archive.read_bytes(), archive.name)


def files_inside(files: Files, pattern: str) -> Files:
    """The files of the archive that stands in ``files`` under a path like ``deps/jq-*.tar.gz``.

    Raises UnavailableError unless exactly one does.
    """
    found = fnmatch.filter(files, pattern)
    if len(found) != 1:
        raise UnavailableError(f"{len(found)} files of the release are called {pattern}, not one.")
    return _read(files[found[0]].content, found[0])


def chosen_files(files: Files, keep: tuple[str, ...] = (), drop: tuple[str, ...] = ()) -> Files:
    """The files in the folders ``keep`` (none: everywhere), without those in ``drop``."""
    return {
        path: file
        for path, file in files.items()
        if (not keep or _is_within(path, keep)) and not _is_within(path, drop)
    }


def _is_within(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def _read(content: bytes, name: str) -> Files:
    members = _zip_files if name.endswith(".zip") else _tar_files
    try:
        return dict(_without_top(members(content)))
    except (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile) as error:
        raise UnavailableError(f"The archive {name} cannot be read: {error}.") from error


def _without_top(members: Iterator[tuple[str, File]]) -> Iterator[tuple[str, File]]:
    size = 0
    for name, file in members:
        size += len(file.content)
        if size > _LARGEST:
            raise UnavailableError(f"The archive unpacks to more than {_LARGEST // MIB} MiB.")
        parts = PurePosixPath(name).parts[1:]
        if parts and ".." not in parts and ".git" not in parts:
            yield "/".join(parts), file


def _tar_files(content: bytes) -> Iterator[tuple[str, File]]:
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in archive:
            if member.issym():
                yield member.name, File(member.linkname.encode(), FileMode.LINK)
            elif member.isfile() and (opened := archive.extractfile(member)) is not None:
                executable = bool(member.mode & 0o100)
                mode = FileMode.BLOB_EXECUTABLE if executable else FileMode.BLOB
                yield member.name, File(opened.read(_LARGEST + 1), mode)


def _zip_files(content: bytes) -> Iterator[tuple[str, File]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for member in archive.infolist():
            if not member.is_dir():
                with archive.open(member) as opened:
                    yield member.filename, File(opened.read(_LARGEST + 1))
