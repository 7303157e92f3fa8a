"""Cases of the snapshot: the rows of docs/decisions/0002."""

from tests.records import PUBLIC, claim, claim_of, decided, deleted, linked, message, passes, revoked, said, says
from tests.rule_cases.case import A1, A2, B1, KEY, Case, at, case, note, row

_red = note(at(1), "red")
_two = said(at(1), claim(KEY, "note", "red"), claim(B1, "note", "blue"))
_fails = passes(at(1), A1, False)
_rests = passes(at(2), B1, True, A1)
_maybe = passes(at(2), B1, True, possible=[A1])

_map = {"b": 1, "a": 2}
_mapped = says(at(1), KEY, "tags", _map)
_tag = says(at(1), KEY, "tags", "red")
_public = revoked(at(4, "osv", namespace=PUBLIC), "ADV-1", A1)
_failed = sorted(["failed", claim_of(one)] for one in (_fails, passes(at(2, "hub"), A1, False)))
_causes = [["advisory", "feed", "ADV-1"], ["advisory", "osv", "ADV-1"], *_failed, ["higher_version", A2]]

ROWS: list[Case] = [
    case("a slot is a row with its answer", _red,
         row("memory", "", KEY, "note", "", "current", "red", "unknown", claim_of(_red))),
    case("of many values each is a row with its value's canonical JSON", _mapped,
         row("memory", "", KEY, "tags", '{"a":2,"b":1}', "current", _map, "unknown", claim_of(_mapped))),
    case("I-5: of many values one that is erased has no value in its row", _tag, deleted(at(2), {"subject": KEY}),
         row("memory", "", KEY, "tags", None, "tombstoned", None, "unknown", claim_of(_tag))),
    case("an assertion is a row: stance, erased, reached, threatened", _red, note(at(2), "blue"),
         row("assertion", claim_of(_red), "superseded", False, False, False),
         row("assertion", claim_of(note(at(2), "blue")), "standing", False, False, False)),
    case("outranked, disputed and invalidated are stances", note(at(1), "red"), note(at(2, "hub"), "blue"),
         note(at(3, "bot"), "green", mode="inferred"), note(at(4, "old"), "grey"),
         decided(at(5), "invalidate", {"source": "old"}),
         row("assertion", claim_of(note(at(1), "red")), "disputed", False, False, False),
         row("assertion", claim_of(note(at(3, "bot"), "green", mode="inferred")), "outranked", False, False, False),
         row("assertion", claim_of(note(at(4, "old"), "grey")), "invalidated", False, False, False)),
    case("what is reached is threatened too", _fails, _rests,
         row("assertion", claim_of(_rests), "standing", False, True, True), row("object", B1, [], True, True)),
    case("a verdict about a bad object is reached", _fails,
         row("assertion", claim_of(_fails), "standing", False, True, True)),
    case("what is reached by a possible edge alone is threatened", _fails, _maybe,
         row("assertion", claim_of(_maybe), "standing", False, False, True), row("object", B1, [], False, True)),
    case("an object names its causes, sorted", _fails, passes(at(2, "hub"), A1, False), passes(at(3), A2), _public,
         revoked(at(5, "feed"), "ADV-1", "item:a"), row("object", A1, _causes, False, False),
         row("object", A2, [["advisory", "feed", "ADV-1"]], False, False)),
    case("evidence is a row: kind, invalidated, tombstoned", message(at(1)),
         decided(at(2), "invalidate", {"source": "ci"}), deleted(at(3), {"evidence": {"source": "ci", "id": "e1"}}),
         row("evidence", "ci", "e1", "transcript", True, True), row("evidence", "ci", "e2", "decision", False, False),
         row("evidence", "ci", "e3", "deletion", False, False)),
    case("evidence is tombstoned when all its assertions are erased", _red, deleted(at(2), {"subject": KEY}),
         row("evidence", "ci", "e1", "tool_result", False, True)),
    case("evidence is not tombstoned while one of its assertions is not erased", _two,
         deleted(at(2), {"subject": KEY}), row("evidence", "ci", "e1", "tool_result", False, False)),
    case("evidence without assertions is tombstoned by its deletion alone", linked(at(1), B1, [A1]),
         deleted(at(2), {"subject": B1}), row("evidence", "ci", "e1", "tool_result", False, False)),
    case("a slot is read at its namespace's latest event", note(at(1), "red", expires_at=5), message(at(5)),
         message(at(9, namespace="beta")),
         row("memory", "", KEY, "note", "", "expired", None, "unknown", claim_of(note(at(1), "red", expires_at=5)))),
]  # fmt: skip
