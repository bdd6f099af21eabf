"""How TCM and GZoltar name an element in one word, and what such a word says about a place.

Ours come back exactly (but for the column, which neither can say). Other tools' names are kept as
they are beside the place read out of them, so that a matrix that passes through afterd names its
elements as before. What would break a line or a field is percent-encoded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote, unquote

from afterd.localization.spectrum import Entity, EntityKind
from afterd.model.location import Location

_TCM = re.compile(r"(?P<file>[^:]*):(?:(?P<function>.*):)?(?P<line>[0-9]+)")
_GZOLTAR = re.compile(
    r"(?P<package>[^$]*)\$(?P<type>[^#]*)#(?P<function>.*?):(?P<line>[0-9]+)(?P<bugs>(:[^:]+)*)"
)
_NO_PACKAGE = "."  # a file at the root of the tree: no Java package is called so


def encoded_label(text: str, special: str = "") -> str:
    """``text`` without white space, control characters, ``%`` and the characters of ``special``."""

    def is_safe(character: str) -> bool:
        return character.isprintable() and character not in " %" + special

    return "".join(
        character if is_safe(character) else quote(character, safe="", errors="surrogateescape")
        for character in text
    )


def decoded_label(word: str, special: str = "") -> str:
    """The text that ``encoded_label`` makes this word of; other tools' words are taken as they are."""
    text = unquote(word, errors="surrogateescape")
    return text if encoded_label(text, special) == word else word


def tcm_label(location: Location) -> str:
    """``file:function:line``, as TCM's users write ``class:method:line``."""
    function = encoded_label(location.function, "|")
    return f"{encoded_label(location.file, ':|')}:{function}:{location.line}"


def tcm_entity(label: str, bugs: tuple[str, ...] = ()) -> Entity:
    """The statement that a TCM label names; without a line where it has none."""
    match = _TCM.fullmatch(label)
    if match is None:
        return Entity(EntityKind.STATEMENT, Location(decoded_label(label, ":|")), label, bugs=bugs)
    place = Location(
        decoded_label(match["file"], ":|"),
        int(match["line"]),
        function=decoded_label(match["function"] or "", "|"),
    )
    return _statement(label, place, tcm_label, bugs)


def gzoltar_label(location: Location) -> str:
    """``directory/$file#function:line``, like GZoltar's ``package$class#method:line``."""
    directory, slash, base = location.file.rpartition("/")
    package = directory + slash if slash else _NO_PACKAGE
    function = re.sub(":(?=[0-9])", "%3A", encoded_label(location.function))
    return f"{encoded_label(package, '$')}${encoded_label(base, '#')}#{function}:{location.line}"


def gzoltar_entity(label: str) -> Entity | None:
    """The statement that a GZoltar label names, or None where it names none.

    ``package.class`` stands for the file of a Java class. Bug numbers after the line are FLITSR's
    addition to the format.
    """
    match = _GZOLTAR.fullmatch(label)
    if match is None:
        return None
    package, base = decoded_label(match["package"], "$"), decoded_label(match["type"], "#")
    if package == _NO_PACKAGE:
        file = base
    elif package.endswith("/"):
        file = package + base
    else:
        file = f"{package}.{base}" if package else base
    function = _decoded_function(match["function"])
    place = Location(file, int(match["line"]), function=function)
    bugs = tuple(filter(None, match["bugs"].split(":")))
    return _statement(label.removesuffix(match["bugs"]), place, gzoltar_label, bugs)


def _decoded_function(word: str) -> str:
    text = unquote(word, errors="surrogateescape")
    return text if re.sub(":(?=[0-9])", "%3A", encoded_label(text)) == word else word


def _statement(
    label: str, place: Location, own: Callable[[Location], str], bugs: tuple[str, ...]
) -> Entity:
    name = "" if own(place) == label else label
    return Entity(EntityKind.STATEMENT, place, name, bugs=bugs)
