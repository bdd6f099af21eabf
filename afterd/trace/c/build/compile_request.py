"""Entry point of afterd-cc: has the build's compile server do what the command line asks, where there is one.

Only what loads fast is imported here: to read afterd-cc's own modules, and LLVM, takes as long as clang takes for a
small file.
"""

from __future__ import annotations

import _socket
import marshal
import os
import sys

SOCKET = "server"
SERVED = "AFTERD_CC_SERVED"
"""The variable of a build's environment that asks for a server."""
_DESCRIPTOR = 4  # bytes of one that is sent


def main() -> None:
    """Compile, in the server's process or in this one."""
    store = os.environ.get("AFTERD_CC_STORE", "")
    status = _answered(store) if store and SERVED in os.environ else -1
    if status >= 0:
        os._exit(status)
    from afterd.trace.c.build.compiler_wrapper import main as compiled_here  # noqa: PLC0415 - slow

    compiled_here()


def address(folder: int) -> str:
    """The socket's path below an open folder: its own may be longer than a socket's may be."""
    return f"/proc/self/fd/{folder}/{SOCKET}"


def _answered(store: str) -> int:
    """The exit status that the server gives; -1 where none answers."""
    try:
        folder = os.open(store, os.O_RDONLY | os.O_DIRECTORY)
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        connection.connect(address(folder))
        os.close(folder)
        here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
        given = b"".join(each.to_bytes(_DESCRIPTOR, sys.byteorder) for each in (0, 1, 2, here))
        mask = os.umask(0)
        os.umask(mask)
        text = marshal.dumps((sys.argv[1:], dict(os.environ), mask))
        length = len(text).to_bytes(8, "little")
        connection.sendmsg([length], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, given)])
        connection.sendall(text)
        said = connection.recv(1)
    except OSError:
        return -1
    return said[0] if said else -1
