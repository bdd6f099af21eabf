"""An explanation as SARIF 2.1.0, for code-scanning pages and editors.

Each change of a root is a result where it stands in the bad version; its story is the code
flow, the auxiliary changes are related locations. Where there is no root, the ranked lines are
results to review, with their score as rank. Text is exact (JSON); locations are relative URIs.
"""

from __future__ import annotations

import hashlib
import json
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence

from afterd import __version__
from afterd.limits import REPORT
from afterd.model.change import Change
from afterd.model.explanation import Explanation, RankedLine
from afterd.report.story import story
from afterd.report.summary import Phrase, as_plain, assurance, goes_along_sentence, headline
from afterd.report.told_step import Told

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

Json = Mapping[str, object]


def render(explanations: Sequence[Explanation]) -> str:
    """One run with the results of all explanations."""
    results = [result for explanation in explanations for result in _results(explanation)]
    rules = [
        _rule("root-change", "This change makes a test fail", "error"),
        _rule("suspicious-line", "This line is suspected of making a test fail", "note"),
    ]
    run = {
        "tool": {"driver": {"name": "afterd", "version": __version__, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, allow_nan=False) + "\n"


def _rule(identifier: str, text: str, level: str) -> Json:
    return {
        "id": identifier,
        "shortDescription": {"text": text},
        "defaultConfiguration": {"level": level},
    }


def _results(explanation: Explanation) -> Iterator[Json]:
    for change in explanation.root:
        yield _root(explanation, change)
    if not explanation.root:
        for line in explanation.ranking[: REPORT.ranked]:
            yield _suspect(explanation, line)


def _root(explanation: Explanation, change: Change) -> Json:
    sentence: Phrase = (*headline(explanation), ". ", *assurance(explanation))
    result: dict[str, object] = {
        "ruleId": "root-change",
        "ruleIndex": 0,
        "level": "error",
        "message": {"text": _message(sentence)},
        "locations": [_changed_region(change)],
        "relatedLocations": [
            {
                "id": number,
                "message": {"text": goes_along_sentence(explanation)},
                **_changed_region(other),
            }
            for number, other in enumerate(explanation.auxiliary)
        ],
        "partialFingerprints": {
            "afterd/v1": _fingerprint(explanation.test, change.file, change.symbol, change.patch)
        },
        "properties": {
            "explanation": explanation.id,
            "test": explanation.test,
            "change": change.id,
            "commits": list(change.commits),
        },
    }
    if explanation.tree is not None:
        flow = [_flow_step(step) for step in story(explanation)]
        result["codeFlows"] = [{"threadFlows": [{"locations": flow}]}] if flow else []
    return result


def _suspect(explanation: Explanation, line: RankedLine) -> Json:
    return {
        "ruleId": "suspicious-line",
        "ruleIndex": 1,
        "kind": "review",
        "level": "none",  # the level that goes with any kind but "fail"
        "message": {"text": _message(headline(explanation))},
        "locations": [_location(line.file, line.line)],
        "rank": 100 * min(max(line.score, 0.0), 1.0),
        "properties": {"explanation": explanation.id, "test": explanation.test},
    }


def _flow_step(step: Told) -> Json:
    value = f": {as_plain(step.values)}" if step.values else ""
    whose = f", by {step.whose}" if step.whose else ""
    known = f" ({step.evidence})" if step.evidence else ""
    location = _location(step.file, step.line)
    return {
        "location": {
            **location,
            "message": {"text": _message((f"{step.text}{whose}{value}{known}",))},
        },
        "importance": "essential" if step.change else "important",
    }


def _changed_region(change: Change) -> dict[str, object]:
    return _location(change.file, change.new.start, change.new.count)


def _location(file: str, line: int, count: int = 1) -> dict[str, object]:
    """A physical location; without a region where there is no line."""
    physical: dict[str, object] = {"artifactLocation": _artifact(file)}
    if line > 0:
        physical["region"] = {"startLine": line, "endLine": line + max(count, 1) - 1}
    return {"physicalLocation": physical}


def _artifact(file: str) -> dict[str, str]:
    """Where a file is: below the repository's root, or by its absolute path, as a test that lies outside is."""
    if file.startswith("/"):
        return {"uri": f"file:///{_uri(file)}"}
    return {"uri": _uri(file), "uriBaseId": "SRCROOT"}


def _uri(file: str) -> str:
    """A relative reference; a colon is encoded, or the first segment would read as a scheme."""
    try:
        data = file.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        data = file.encode("utf-8", "surrogatepass")
    return urllib.parse.quote(data, safe="/").lstrip("/")


def _message(phrase: Phrase) -> str:
    """Plain text of SARIF, in which ``[text](target)`` would be a link."""
    return as_plain(phrase).replace("](", "\\](")


def _fingerprint(*parts: str) -> str:
    """The same for the same change and test, wherever its lines have moved."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
