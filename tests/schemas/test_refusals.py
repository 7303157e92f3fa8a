"""Every refusal is a sentence of ours: each field of every event is given each kind of wrong value."""

import contextlib
import re
from collections.abc import Iterator
from typing import Any, cast

import pytest
from pydantic import ValidationError
from tether_schemas import builtin, codec, events, rules
from tether_schemas.codec import read_event
from tether_schemas.errors import BadEvent
from tether_schemas.fields import WORDED, BadField, first_fault

from tests.raw import Json, decision, deletion, link, osv, policy, revocation, tool_result, transcript, write

WRONG: list[Any] = [
    *(None, True, 7, -1, 1.5, 2**64 - 1, "", "x", "a\tb", "é" * 5_000, [], [7], [None], ["x"] * 10_001, {}, {"x": 1}),
]
SETTINGS_ONLY = {"int_parsing"}  # the environment holds text
RULES = {
    "version": 1,
    "rules": [
        {
            "name": "tests",
            "tool": "pytest",
            "source": "ci",
            "assertion": {
                **{"subject": "item:{arguments.name}", "predicate": "note", "value": "{result}", "scope": "s"},
                **{"mode": "extracted", "authority": "inferred", "confidence": 0.5, "readers": ["ana"]},
                **{"premises": ["item:a@1"], "premises_complete": True},
            },
            "link": {"dependent": "item:a@1", "premises": ["item:b@1"], "grade": "possible"},
        }
    ],
}
POLICY = {
    "predicates": {"note": {"verdict": False, "many": True, "possible": "keep", "decay_days": 3.0, "impact": "low"}},
    "schemes": {"doc": {"versioned": True, "higher_version": False}},
    "sources": {"ci": {"authority_max": "inferred", "issuer": "ci"}},
}
WHOLE = write(
    scope="s", issuer="i", memory_type="m", mode="inferred", valid_from="2026-01-01T00:00:00Z", authority="unknown",
    confidence=0.5, sensitivity="low", readers=["ana"], derived_from=["item:b@1", {"source": "ci", "id": "1"}],
    premises_complete=True, original_text="t", write_reason="w", review_at="2026-02-01T00:00:00Z",
)  # fmt: skip
EVENTS: list[Json] = [
    *(WHOLE, link(dependent="item:a@1", premise="item:b@1"), link(dependent="item:a@1", premises=["item:b@1"])),
    *(transcript(), tool_result(), osv(), revocation(), revocation(subject=None, subjects=["item:a"])),
    *(deletion({"evidence": {"source": "ci", "id": "1"}}), deletion({"source": "ci", "session_id": "s"})),
    *(deletion({"subject": "item:a"}, until="2026-01-31T00:00:00Z"), decision("restore", target={"source": "ci"})),
    *(decision("invalidate", target={"assertion": "as_" + "0" * 32}), decision("restore", target={"advisory": "A"})),
    *(policy(policy=POLICY), policy(rules=RULES)),
]
RAW = re.compile(r"Input|[Ss]hould|[Vv]alid (?!time|from)|Value error|Unable|Field required|Extra")  # pydantic's words
BRANCH = re.compile(r"function|constrained|EvidenceRef|tether\.|as:|list\[")  # and its names for what nobody wrote


def spoilt(whole: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every copy of an event with one wrong value in one place, and that place."""
    if isinstance(whole, dict | list):
        inside = cast(dict[Any, Any], whole) if isinstance(whole, dict) else dict(enumerate(cast(list[Any], whole)))
        for name, inner in inside.items():
            for place, changed in spoilt(inner, f"{path}.{name}" if path else str(name)):
                yield place, _with(whole, name, changed)
            for wrong in WRONG:
                yield f"{path}.{name}", _with(whole, name, wrong)
            yield f"{path}.{name}", _without(whole, name)
    if isinstance(whole, dict):
        yield f"{path}.unheard", {**cast(Json, whole), "unheard": 1}


def _with(whole: Any, name: Any, value: Any) -> Any:
    changed = whole.copy()
    changed[name] = value
    return changed


def _without(whole: Any, name: Any) -> Any:
    changed = whole.copy()
    del changed[name]
    return changed


@pytest.mark.parametrize("whole", EVENTS)
def test_every_wrong_value_of_every_field_is_refused_in_words(whole: Json) -> None:
    read_event(whole)
    refused: set[str] = set()
    for place, raw in spoilt(whole):
        try:
            read_event(raw)
        except BadEvent as error:
            refused.add(place)
            assert not RAW.search(error.reason), (place, str(error)[:400])
            assert not BRANCH.search(error.field), (place, str(error)[:400])
    assert len(refused) > 10


def test_every_kind_of_fault_has_words_and_nothing_else_has(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[str] = set()

    def noted(error: ValidationError) -> BadField:
        seen.update(each["type"] for each in error.errors(include_url=False))
        return first_fault(error)

    for module in (builtin, codec, events, rules):
        monkeypatch.setattr(module, "first_fault", noted)
    for _, raw in (each for whole in EVENTS for each in spoilt(whole)):
        with contextlib.suppress(BadEvent):
            read_event(raw)
    assert seen | SETTINGS_ONLY == WORDED | {"value_error"}
