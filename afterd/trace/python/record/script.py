"""``python -m afterd_runtime.script FILE …``: run a script of the tree as ``python FILE …`` would.

The module replaces its own ``__main__`` so that the script finds the ``__file__``, ``sys.argv``,
``sys.path[0]`` and annotations it would have found.
"""

from __future__ import annotations

import sys
from pathlib import Path

from .session import current_session


def main() -> None:
    """Run ``sys.argv[1]``."""
    del sys.argv[0]
    script = sys.argv[0]
    path = Path(script)
    sys.path[0] = str(path.resolve().parent)
    session = current_session()
    source = path.read_bytes()
    if session is None:
        code = compile(source, script, "exec", dont_inherit=True)
    else:
        code = session.compile(source, script)
    namespace = sys.modules["__main__"].__dict__
    for name in [name for name in namespace if name not in {"__name__", "__builtins__"}]:
        del namespace[name]
    namespace.update(
        __file__=script, __spec__=None, __doc__=None, __package__=None, __loader__=None
    )
    try:
        exec(code, namespace)  # noqa: S102 # running the script is the purpose
    except SystemExit as ending:
        if session is not None:
            session.exited(ending)
        raise


if __name__ == "__main__":
    main()
