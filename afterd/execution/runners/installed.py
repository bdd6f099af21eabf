"""What a package manager installs into a folder of the project, brought into a slot."""

from __future__ import annotations

from afterd.execution.runners.reading import BUILD_FOLDER
from afterd.vcs.worktree import INSTALLED

_BROUGHT = """\
if test -f {0}/installing || ! test -d {3}; then
  mkdir -p {0} && touch {0}/installing && rm -rf {3}
  home=${{PWD%%/.git/afterd/*}}
  for from in "$home" ../* "$home"/.git/afterd/slots/*; do
    test "$from" = "$PWD" && continue
    if test "$from" = "$home"; then sure=$from/{3}/{4}; else sure=$from/{2}; fi
    if test -e "$sure" && ! test -f "$from/{0}/installing" && test -d "$from/{3}"; then
      rm -rf {0}/copied
      if cp -a --reflink=auto "$from/{3}" {0}/copied 2>/dev/null; then
        mv {0}/copied {3}
        break
      fi
    fi
  done
  test -d {3} || {{ {1}; }}
  rm {0}/installing && echo {3} > {2}
fi"""


def installed(folder: str, whole: str, install: str) -> str:
    """Shell lines after which ``folder`` is in the slot: a copy of what the user's work tree has, where ``whole`` is
    in it, or another slot, else what the command ``install`` makes.

    It is installed once, as every version is tried with the same packages; a slot that is built from nothing keeps
    them. What an interrupted run left half-installed is made anew.
    """
    return _BROUGHT.format(BUILD_FOLDER, install, INSTALLED, folder, whole)
