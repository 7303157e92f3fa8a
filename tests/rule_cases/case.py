"""The words that the cases of the rule are written in."""

from dataclasses import dataclass
from typing import Any

from tether_schemas.facts import FactRecord

from tests.records import HOME, At, Named, claim_of, policy, says

A1, A2, B1, C1 = "item:a@1", "item:a@2", "item:b@1", "item:c@1"
X1, X2, Y1 = "pkg:pypi/x@1.0", "pkg:pypi/x@2.0", "pkg:pypi/y@1.0"
KEY = "key:signing"

# What the cases' policy says: `audited` is a verdict too, `licence` rests on its subject, `tags` has many values, and
# what `wary` possibly derives from may withdraw it.
RULES = policy(
    At("p0", 0, "ops"),
    predicates={
        "audited": {"verdict": True},
        "licence": {"rests_on_subject": True},
        "tags": {"many": True},
        "wary": {"possible": "withdraw"},
    },
)


@dataclass(frozen=True)
class Expected:
    """What one `recall` must answer; None for coverage, shown and alternatives: not looked at."""

    subject: str
    predicate: str
    status: str
    value: Any
    scope: str
    at_us: int | None
    namespace: str
    coverage: str | None
    shown: str | None
    others: tuple[Any, ...] | None


@dataclass(frozen=True)
class Row:
    """A row that the snapshot must hold (docs/decisions/0002)."""

    row: list[Any]
    namespace: str = HOME


@dataclass(frozen=True)
class Case:
    """Given these records, in any order, then these answers and rows. `sentence` says the claim."""

    sentence: str
    records: tuple[FactRecord, ...]
    expected: tuple[Expected, ...]
    rows: tuple[Row, ...] = ()


def case(sentence: str, *parts: FactRecord | Expected | Row) -> Case:
    """A case of the records, expected answers and rows given."""
    records = tuple(part for part in parts if isinstance(part, FactRecord))
    expected = tuple(part for part in parts if isinstance(part, Expected))
    return Case(sentence, (RULES, *records), expected, tuple(part for part in parts if isinstance(part, Row)))


def row(*fields: Any) -> Row:
    """A row of the home namespace's snapshot."""
    return Row(list(fields))


def at(time: int, source: str = "ci", name: str | None = None, **more: Any) -> At:
    """The event at this time; its id is `e` and the time unless given."""
    return At(name or f"e{time}", time, source, **more)


def then(status: str, subject: str, predicate: str = "passes", value: Any = None, **more: Any) -> Expected:
    """One answer. `shown`: the record whose only assertion is shown; `others`: the values of the alternatives."""
    shown = more.get("shown")
    return Expected(
        subject,
        predicate,
        status,
        value,
        scope=more.get("scope", ""),
        at_us=more.get("at_us"),
        namespace=more.get("namespace", HOME),
        coverage=more.get("coverage"),
        shown=claim_of(shown, more.get("place", 0)) if isinstance(shown, FactRecord) else None,
        others=more.get("others"),
    )


def current(subject: str, predicate: str = "passes", value: Any = True, **more: Any) -> Expected:
    """Served, by default as a true verdict."""
    return then("current", subject, predicate, value, **more)


def withdrawn(subject: str, predicate: str = "passes", **more: Any) -> Expected:
    """Not served: its support failed."""
    return then("withdrawn", subject, predicate, **more)


def note(place: At, value: Any, *premises: Named, subject: str = KEY, **fields: Any) -> FactRecord:
    """A note, which is no verdict, about the key unless said otherwise."""
    return says(place, subject, "note", value, premises=premises, **fields)
