"""Cases of layer D: what is reached."""

from typing import Any

from tether_schemas.facts import FactRecord

from tests.records import At, decided, deleted, evidence, link_of, linked, passes, revoked, said, says

from tests.records import claim, message  # isort: skip
from tests.rule_cases.case import A1, B1, C1, KEY, X1, Case, at, case, current, note, then, withdrawn

_fails = passes(at(90), A1, False)
_user: dict[str, Any] = {"authority": "user-direct"}


def _chain(length: int) -> list[FactRecord]:
    names = [A1, *(f"item:link{number}@1" for number in range(1, length + 1))]
    return [passes(at(number), names[number], True, names[number - 1]) for number in range(1, length + 1)]


_ring = [passes(at(1), B1, True, C1), passes(at(2), C1, True, B1), passes(at(3), C1, True, A1)]
_own = note(at(1), "seen", subject=B1)

EDGES: list[Case] = [
    case("I-3: one hop or fifty is the same", *_chain(50), _fails, withdrawn("item:link1@1"),
         withdrawn("item:link50@1")),
    case("I-4: fifty hops come back at once", *_chain(50), _fails, decided(at(91), "invalidate", evidence(_fails)),
         current("item:link1@1"), current("item:link50@1")),
    case("cycles are harmless", *_ring, current(B1), current(C1)),
    case("I-3: a failure reaches all of a cycle", *_ring, _fails, withdrawn(B1), withdrawn(C1)),
    case("I-4: a cycle does not hold itself down", *_ring, _fails, decided(at(91), "invalidate", evidence(_fails)),
         current(B1), current(C1)),
    case("a premise on itself is harmless", passes(at(1), A1, True, A1), linked(at(2), B1, [B1]), passes(at(3), B1),
         current(A1), current(B1)),
    case("a late edge is the same as an early one", passes(at(1), B1), _fails, linked(at(95), B1, [A1]),
         withdrawn(B1)),
    case("a link adds its premise whether or not anything else is known of that", linked(at(1), B1, ["item:new@1"]),
         linked(at(2), "item:new@1", [A1]), passes(at(3), B1), _fails, withdrawn(B1)),
    case("a link adds its premise to an assertion that is not on record", linked(at(1), note(at(9), "never"), [A1]),
         note(at(2), "red", note(at(9), "never")), _fails, withdrawn(KEY, "note")),
    case("a premise that never comes is not bad", note(at(1), "red", ("ci", "never")), current(KEY, "note", "red")),
    case("a link may have several premises", passes(at(1), B1), linked(at(2), B1, [C1, A1]), _fails, withdrawn(B1)),
    case("rule 1: a premise of an assertion that is no verdict is its own", note(at(1), "red", A1), _fails,
         says(at(2), KEY, "licence", "x"), withdrawn(KEY, "note"), current(KEY, "licence", "x")),
    case("rule 2: an object premise of a verdict is its subject-version's: all verdicts about it rest on it",
         passes(at(1), B1, True, A1), passes(at(2, "hub"), B1, True, **_user),
         says(at(3, "bot"), B1, "audited", True), passes(at(4), C1, True, B1), _fails, withdrawn(B1),
         withdrawn(B1, "audited"), withdrawn(C1)),
    case("rule 2: an object premise stays though its verdict is superseded", passes(at(1), B1, False, A1),
         passes(at(2), B1), _fails, withdrawn(B1)),
    case("rule 2: an object premise of an erased verdict stays", passes(at(1), B1, True, A1),
         passes(at(2, "hub"), B1), deleted(at(3), {"source": "ci"}), _fails, withdrawn(B1)),
    case("rule 2: a link to a verdict is as if the verdict had stated it", passes(at(1), B1),
         passes(at(2, "hub"), B1), linked(at(3), passes(at(1), B1), [A1]), _fails, withdrawn(B1)),
    case("rule 3: a content premise of a present verdict is its subject-version's too", _own,
         passes(at(2), A1, True, _own), passes(at(3, "hub"), A1), decided(at(4), "invalidate", evidence(_own)),
         withdrawn(A1)),
    case("rule 3: not when the verdict is succeeded", _own, passes(at(2), A1, True, _own), passes(at(3), A1),
         decided(at(4), "invalidate", evidence(_own)), current(A1)),
    case("rule 3: not when a present verdict of the same value has higher authority", _own,
         passes(at(2), A1, True, _own), passes(at(3, "hub"), A1, True, **_user),
         decided(at(4), "invalidate", evidence(_own)), current(A1)),
    case("rule 3: though the higher authority says another value", _own, passes(at(2), A1, False, _own, **_user),
         passes(at(3, "hub"), A1, True, authority="system-of-record"), passes(at(1, "bot"), B1, True, A1),
         decided(at(4), "invalidate", evidence(_own)), withdrawn(A1), withdrawn(B1)),
    case("rule 3: the verdict itself rests on it all the same", _own, passes(at(2), A1, True, _own),
         passes(at(3, "hub"), A1, True, **_user), note(at(5), "x", passes(at(2), A1, True, _own)),
         decided(at(4), "invalidate", evidence(_own)), withdrawn(KEY, "note")),
    case("rule 4: a verdict rests on its subject-version", passes(at(1), A1, True), revoked(at(2), "ADV-1", A1),
         withdrawn(A1)),
    case("rule 4: another assertion does only where its predicate's policy says so",
         says(at(1), A1, "licence", "MIT"), says(at(2), A1, "note", "seen"), _fails, withdrawn(A1, "licence"),
         current(A1, "note", "seen")),
]  # fmt: skip

_one, _two = note(at(1), 1), note(at(2), 2, note(at(1), 1))
_check = passes(at(1), A1)
_recheck = passes(at(2), A1, False, _check)
_again = passes(at(3), A1, True, _recheck)

QUOTES: list[Case] = [
    case("rule 5: a counter derived from its last value stands", _one, _two, current(KEY, "note", 2)),
    case("rule 5: a re-check that quotes what it replaces stands", _check, _recheck, _again, current(A1)),
    case("rule 5: also when the quote is a link from the subject-version", _check, _recheck, passes(at(3), A1),
         linked(at(4), A1, [_check]), current(A1)),
    case("rule 5: also what is outranked or disputed in one slot does not pass", note(at(1), "red", **_user),
         note(at(2, "hub"), "blue", note(at(1), "red", **_user), authority="system-of-record"),
         current(KEY, "note", "blue")),
    case("rule 5: in another slot it passes", _one, note(at(2), 2), note(at(3), 1, _one, scope="east"),
         withdrawn(KEY, "note", scope="east")),
    case("rule 5: to another subject-version it passes", passes(at(1), A1, False), passes(at(2), A1),
         passes(at(3), B1, True, passes(at(1), A1, False)), withdrawn(B1)),
    case("rule 5: by a link from another subject-version it passes", _check, _recheck, _again,
         linked(at(4), B1, [_check]), passes(at(5), B1), withdrawn(B1)),
    case("rule 5: what is no verdict passes to its subject-version", note(at(1), "x", subject=A1),
         note(at(2), "y", subject=A1), linked(at(3), A1, [note(at(1), "x", subject=A1)]), passes(at(4), A1),
         withdrawn(A1)),
    case("rule 5: what is invalidated passes in one slot too", _one, _two,
         decided(at(3), "invalidate", evidence(_one)), withdrawn(KEY, "note")),
    case("rule 5: what is tombstoned passes to its subject-version", _check, linked(at(2), A1, [_check]),
         passes(at(3), A1, True), deleted(at(4), evidence(_check)), withdrawn(A1)),
    case("rule 5: what reaches the quoted passes through it", note(at(1), 1, B1), note(at(2), 2, note(at(1), 1, B1)),
         passes(at(3), B1, False), withdrawn(KEY, "note")),
    case("rule 5: with many values another value is another slot", says(at(1), KEY, "tags", "red"),
         says(at(2), KEY, "tags", "blue", premises=[says(at(1), KEY, "tags", "red")]),
         decided(at(3), "invalidate", {"source": "none"}), current(KEY, "tags", ["blue", "red"])),
]  # fmt: skip

_pair = said(At("two", 1, "ci"), claim(KEY, "note", "red"), claim(B1, "note", "blue"))
_maybe = linked(at(2), B1, [A1], "possible")

REFERENCES: list[Case] = [
    case("evidence as dependent stands for every assertion of it", _pair, linked(at(2), ("ci", "two"), [A1]), _fails,
         withdrawn(KEY, "note"), withdrawn(B1, "note")),
    case("evidence as dependent, of verdicts, is their subject-versions'", passes(At("v", 1, "ci"), B1),
         passes(at(2, "hub"), B1), linked(at(3), ("ci", "v"), [A1]), _fails, withdrawn(B1)),
    case("evidence as premise stands for the evidence and every assertion of it", _pair,
         note(at(2), "x", ("ci", "two"), subject=C1), note(at(3), "green", subject=B1), withdrawn(C1, "note")),
    case("evidence as premise may come later", note(at(2), "x", ("ci", "late"), subject=C1),
         message(At("late", 5, "ci")), decided(at(6), "invalidate", {"evidence": {"source": "ci", "id": "late"}}),
         withdrawn(C1, "note")),
    case("a possible premise only threatens", passes(at(1), B1, True, possible=[A1]), _fails,
         current(B1, coverage="threatened")),
    case("a possible link only threatens", passes(at(1), B1, premises_complete=True), _maybe, _fails,
         current(B1, coverage="threatened")),
    case("what is threatened threatens on", passes(at(1), B1), _maybe, passes(at(3), C1, True, B1), _fails,
         current(C1, coverage="threatened")),
    case("a possible premise counts as stated where the dependent's policy lets it withdraw",
         says(at(1), KEY, "wary", "x", possible=[A1]), _fails, withdrawn(KEY, "wary")),
    case("of two supports one that is not threatened is enough", note(at(1), "red", possible=[A1]),
         note(at(2, "hub"), "red"), _fails, current(KEY, "note", "red", coverage="unknown")),
    case("an invalidated possible link threatens nothing", passes(at(1), B1), _maybe, _fails,
         decided(at(95), "invalidate", {"assertion": link_of(_maybe)}), current(B1, coverage="unknown")),
    case("I-4: with two causes, lifting one leaves the other", passes(at(1), B1, True, A1, X1), _fails,
         revoked(at(91), "ADV-1", X1), decided(at(92), "invalidate", evidence(_fails)), withdrawn(B1)),
    case("I-4: with two causes, lifting both restores", passes(at(1), B1, True, A1, X1), _fails,
         revoked(at(91), "ADV-1", X1), decided(at(92), "invalidate", evidence(_fails)),
         revoked(at(93), "ADV-1", X1, withdrawn=True), current(B1)),
    case("I-8: a failure of another namespace reaches nothing here", passes(at(1, namespace="beta"), A1, False),
         passes(at(2), B1, True, A1), current(B1)),
    case("a link of a premise that passes withdraws nothing", passes(at(1), A1), linked(at(2), B1, [A1]),
         passes(at(3), B1), current(B1), then("unknown", C1)),
]  # fmt: skip
