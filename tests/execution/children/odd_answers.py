"""A worker's child that does what it is told, bad things included."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from afterd.execution.worker_process import serve

print("garbage at import")  # noqa: T201 - the point of the test


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """Do ``question["do"]`` and answer with what was asked for."""
    action = question["do"]
    if action == "signal":
        os.kill(os.getpid(), question["number"])
    elif action == "killed":
        with Path(question["counter"]).open("a+") as counter:
            counter.write(".")
            counter.seek(0)
            if len(counter.read()) <= question["times"]:
                counter.flush()
                os.kill(os.getpid(), signal.SIGKILL)
    elif action == "exit":
        os._exit(question["status"])
    elif action == "raise":
        raise ValueError(question["text"])
    elif action == "sleep":
        time.sleep(question["seconds"])
    elif action == "allocate":
        return {"size": len(bytearray(question["size"]))}
    elif action == "print":
        os.write(1, question["text"].encode() * question["times"])
        sys.stdout.write("more\n")
    elif action == "repeat":
        return {"text": question["text"] * question["times"]}
    return {"echo": question, "pid": os.getpid()}


if __name__ == "__main__":
    serve(answer)
