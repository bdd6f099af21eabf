"""How large a range may be, and what git gives of it."""

from __future__ import annotations

from dataclasses import dataclass

from afterd.limits.sizes import GIB, MIB


@dataclass(frozen=True, slots=True)
class ChangeLimits:
    """Beyond these a range is looked at file by file, and the answer says so (section 13)."""

    changes: int = 5_000
    lines: int = 200_000
    files: int = 3_000
    file_size: int = 64 * MIB
    tree_files: int = 200_000
    tree_size: int = 2 * GIB


@dataclass(frozen=True, slots=True)
class GitLimits:
    """How large what git gives may be, beside ChangeLimits."""

    name: int = 255  # bytes of a file's name (NAME_MAX)
    path: int = 4_000  # bytes: PATH_MAX is 4096, the rest is for the slot's own directory
    furthest: int = 1_000  # lines that a hunk may stand away from where its header says (chosen)
    blamed_commits: int = 2_000  # of a range (celery, 790 commits: 1.2 CPU s of 32)
    blame_questions: int = 2_000_000  # commits times changed files (celery: 300,000)
    blamed_statements: int = (
        2_000  # of one added block, of which each is asked for its commits (chosen)
    )
    remembered: int = 500_000  # entries of trees (100 MB): a flat directory has one tree a variant
    renames: int = 1_000  # git's own diff.renameLimit: similarity costs added times deleted files
    similar: int = 30  # per cent of a renamed file that is as it was, at least; at git's own 50 a module that moved to
    # src/ between two releases is a deleted and an added file (37 of 38 pairs below it, in eight projects, were true)
    patch: int = (
        1 << 16
    )  # characters of a patch that are kept; no variant is made from this text (chosen)
    binary: int = 8_000  # bytes in which git looks for a NUL
    line: int = 2_000  # bytes: a longer line is data, and comparing it is quadratic (chosen)
    widest: int = (
        400  # lines of a hunk that is searched for similar ones, which is quadratic (chosen)
    )
    moved: int = (
        40  # letters and digits that make one file another's child: the default of git blame -C
    )
    moved_block: int = 20  # of each block that was moved to it: that of git diff --color-moved
    parses: int = 64  # of one Python file, to tell which hunks leave its tree (chosen)


GIT = GitLimits()
