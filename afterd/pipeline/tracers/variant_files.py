"""The files of variants, for the checks that read them without building."""

from __future__ import annotations

import os
from collections.abc import Callable

from afterd.model.change import ChangeSet
from afterd.vcs.trees import TreeReader
from afterd.workspace import Range


def variant_files(reader: TreeReader, wanted: Range) -> Callable[[ChangeSet], dict[str, str]]:
    """For the bad version without some changes: by path, the id of each file's content."""

    def files_of(reverted: ChangeSet) -> dict[str, str]:
        files = reader.files(wanted.variants.tree(reverted))
        return {os.fsdecode(path): entry.id for path, entry in files if entry.is_file}

    return files_of
