"""The forges: where a pull request lives, and one comment on it that is found again and edited.

Nothing here opens the repository or starts a process: whoever holds a token does neither.
"""

from afterd.forge.connect import connect
from afterd.forge.posting import Placement, Post, Posted, post
from afterd.forge.project import ForgeKind, Project, project_of
from afterd.forge.protocol import Annotation, Check, Comment, Forge, Pull
from afterd.forge.refusal import Patience, forge_error
from afterd.forge.tokens import token_for

__all__ = [
    "Annotation",
    "Check",
    "Comment",
    "Forge",
    "ForgeKind",
    "Patience",
    "Placement",
    "Post",
    "Posted",
    "Project",
    "Pull",
    "connect",
    "forge_error",
    "post",
    "project_of",
    "token_for",
]
