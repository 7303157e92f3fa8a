"""Cases of layer C: what is bad."""

from typing import Any

from tether_schemas.facts import FactRecord

from tests.records import OTHER, PUBLIC, YEAR_ONE, At, decided, deleted, evidence, linked, message, passes

from tests.records import osv, policy, revoked, says  # isort: skip
from tests.rule_cases.case import A1, A2, B1, KEY, X1, X2, Y1, Case

from tests.rule_cases.case import at, case, current, note, then, withdrawn  # isort: skip

_rests = passes(at(3), B1, True, A1)
_user: dict[str, Any] = {"authority": "user-direct"}


def _advice(time: int, *subjects: str, source: str = "osv", **more: Any) -> FactRecord:
    return revoked(at(time, source, namespace=PUBLIC), "ADV-1", *subjects, **more)


OBJECTS: list[Case] = [
    case("I-3: a false verdict that holds withdraws what derives from its subject", passes(at(1), A1, False), _rests,
         withdrawn(B1)),
    case("a false verdict that does not hold withdraws nothing", passes(at(1), A1, False), passes(at(2), A1), _rests,
         current(B1)),
    case("I-4: a failure that is lifted by authority withdraws nothing any more", passes(at(1), A1, False),
         passes(at(2, "hub"), A1, **_user), _rests, current(B1)),
    case("a failed verdict is bad in every scope", passes(at(1), A1, False, scope="east"), passes(at(2), A1), _rests,
         withdrawn(A1), withdrawn(B1), current(A1, value=False, scope="east")),
    case("a failed verdict withdraws the verdicts of other predicates", passes(at(1), A1, False),
         says(at(2), A1, "audited", True), withdrawn(A1, "audited")),
    case("a subject never checked is not bad", _rests, current(B1)),
    case("false of a predicate that is no verdict is no failure", says(at(1), A1, "note", False), _rests, current(B1)),
    case("an entity may fail like any object", passes(at(1), KEY, False), passes(at(2), A1, True, KEY), withdrawn(A1)),
]  # fmt: skip

ADVISORIES: list[Case] = [
    case("I-3: what an advisory covers is bad", _advice(1, A1), passes(at(2), A1), _rests, withdrawn(A1),
         withdrawn(B1)),
    case("an advisory withdraws what it covers and nothing else", _advice(1, A1), passes(at(2), A2), current(A2)),
    case("I-4: a later revision that is withdrawn lifts it", _advice(1, A1), _advice(2, A1, withdrawn=True),
         passes(at(3), A1), current(A1)),
    case("a later revision that no longer covers lifts it", _advice(1, A1), _advice(2, KEY), passes(at(3), A1),
         current(A1)),
    case("the latest revision is the one modified last, whenever it comes",
         _advice(4, A1, modified="1970-01-01T00:00:01Z"),
         _advice(2, A1, withdrawn=True, modified="1970-01-01T00:00:02Z"), passes(at(3), A1), current(A1)),
    case("a revision modified in the year 1 stands at its event's time", _advice(4, A1, modified=YEAR_ONE),
         _advice(2, A1, withdrawn=True), passes(at(3), A1), withdrawn(A1)),
    case("revisions of one time are ordered by their ids", revoked(at(1, "osv", name="r1"), "ADV-1", A1),
         revoked(at(1, "osv", name="r2"), "ADV-1", A1, withdrawn=True), passes(at(3), A1), current(A1)),
    case("one id from two sources is two advisories", _advice(1, A1), _advice(2, A1, source="feed", withdrawn=True),
         passes(at(3), A1), withdrawn(A1)),
    case("two ids are two causes: lifting one leaves the other", _advice(1, A1), revoked(at(1), "ADV-2", A1),
         _advice(2, A1, withdrawn=True), passes(at(3), A1), withdrawn(A1)),
    case("a subject without a version in a revocation covers all versions", _advice(1, "item:a"), passes(at(2), A1),
         passes(at(3), A2), says(at(4), "item:a", "licence", "MIT"), withdrawn(A1), withdrawn(A2),
         withdrawn("item:a", "licence")),
    case("an entity in a revocation covers itself", _advice(1, KEY), passes(at(2), A1, True, KEY), withdrawn(A1)),
    case("a revocation of one version leaves what is said of the subject at no version", _advice(1, A1),
         says(at(4), "item:a", "licence", "MIT"), current("item:a", "licence", "MIT")),
    case("a revocation may name several subjects", _advice(1, A1, KEY), passes(at(2), A1),
         says(at(3), B1, "passes", True), says(at(4), KEY, "licence", "x"), withdrawn(A1), withdrawn(KEY, "licence"),
         current(B1)),
    case("an OSV range covers the versions in it", osv(at(1), "GHSA-1", "x", {"introduced": "0"}, {"fixed": "2.0"}),
         passes(at(2), X1), passes(at(3), X2), passes(at(4), Y1), withdrawn(X1), current(X2), current(Y1)),
    case("an OSV advisory that is withdrawn covers nothing", passes(at(2), X1),
         osv(at(1), "GHSA-1", "x", {"introduced": "0"}, withdrawn=True), current(X1)),
    case("I-8: an advisory of another namespace covers nothing here", revoked(at(1, namespace=OTHER), "ADV-1", A1),
         passes(at(2), A1), current(A1)),
    case("a late advisory is the same as an early one", passes(at(1), A1), passes(at(2), B1, True, A1),
         _advice(9, A1), withdrawn(B1)),
]  # fmt: skip

HIGHER: list[Case] = [
    case("a higher version on record retires a lower one", passes(at(1), A1), passes(at(2), A2), withdrawn(A1),
         current(A2)),
    case("versions are in the order of PEP 440", passes(at(1), "item:a@2"), passes(at(2), "item:a@10"),
         withdrawn("item:a@2"), current("item:a@10")),
    case("a pre-release is lower than its release", passes(at(1), "item:a@2rc1"), passes(at(2), A2),
         withdrawn("item:a@2rc1")),
    case("versions that do not parse are not compared", passes(at(1), "item:a@odd"), passes(at(2), A2),
         passes(at(3), A1), current("item:a@odd"), current(A2)),
    case("a failed upgrade is no record", passes(at(1), A1), passes(at(2), A2, False), current(A1)),
    case("a true verdict that does not hold is no record", passes(at(1), A1), passes(at(2), A2),
         passes(at(3, "hub"), A2, False), current(A1)),
    case("a mention or a premise is no record", passes(at(1), A1), passes(at(2), B1, True, A2),
         says(at(3), A2, "note", "seen"), current(A1)),
    case("another base is no higher version", passes(at(1), A1), passes(at(2), "item:b@2"), current(A1)),
    case("the higher version counts in any scope and predicate", passes(at(1), A1),
         says(at(2), A2, "audited", True, scope="east"), withdrawn(A1)),
    case("a higher version that is withdrawn itself still is on record", passes(at(1), A1), passes(at(2), A2),
         revoked(at(3), "ADV-1", A2), withdrawn(A1), withdrawn(A2)),
    case("packages live side by side", passes(at(1), X1), passes(at(2), X2), current(X1), current(X2)),
    case("a policy says for a scheme whether a higher version retires",
         policy(At("p5", 5, "ops"), schemes={"pkg": {"higher_version": True}, "item": {"higher_version": False}}),
         passes(at(1), X1), passes(at(2), X2), passes(at(3), A1), passes(at(4), A2), withdrawn(X1), current(A1)),
    case("a licence that rests on a retired version is withdrawn", says(at(1), A1, "licence", "MIT"),
         passes(at(2), A2), withdrawn(A1, "licence")),
]  # fmt: skip

_red = note(at(1), "red")
_by_red = note(at(4, "bot"), "x", _red, subject=B1)
_chat = message(at(1))

CONTENT: list[Case] = [
    case("what derives from a superseded assertion is withdrawn", _red, note(at(2), "blue"), _by_red,
         withdrawn(B1, "note")),
    case("what derives from an outranked assertion is", _red, note(at(2, "hub"), "blue", **_user), _by_red,
         withdrawn(B1, "note")),
    case("what derives from a disputed assertion is", _red, note(at(2, "hub"), "blue"), _by_red,
         withdrawn(B1, "note")),
    case("what derives from an invalidated assertion is", _red, decided(at(2), "invalidate", evidence(_red)), _by_red,
         withdrawn(B1, "note")),
    case("what derives from a restated assertion is not", _red, note(at(2), "red"), _by_red, current(B1, "note", "x")),
    case("what derives from an expired assertion is not: an end is no failure", note(at(1), "red", expires_at=2),
         note(at(4, "bot"), "x", note(at(1), "red", expires_at=2), subject=B1), then("expired", KEY, "note"),
         current(B1, "note", "x")),
    case("an object that derives from a deleted assertion is withdrawn with its verdicts", _red,
         linked(at(2), A1, [_red]), passes(at(3), A1), deleted(at(4), evidence(_red)), withdrawn(A1)),
    case("an object that derives from deleted evidence is", _chat, linked(at(2), A1, [("ci", "e1")]),
         passes(at(3), A1), deleted(at(4), evidence(_chat)), withdrawn(A1)),
    case("an object that derives from evidence, all of it erased by subject, is", _red,
         linked(at(2), A1, [("ci", "e1")]), passes(at(3), A1), deleted(at(4), {"subject": KEY}), withdrawn(A1)),
    case("what derives from invalidated evidence is", _chat, note(at(2), "red", ("ci", "e1")),
         decided(at(3), "invalidate", evidence(_chat)), withdrawn(KEY, "note")),
    case("what derives from evidence rests on every assertion of it", _red,
         note(at(4, "bot"), "x", ("ci", "e1"), subject=B1), note(at(5), "blue"), withdrawn(B1, "note")),
    case("withdrawn is never a cause: what stands beside what is withdrawn stays", passes(at(1), A1, False), _rests,
         says(at(4), B1, "note", "seen"), current(B1, "note", "seen")),
]  # fmt: skip
