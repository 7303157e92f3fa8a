"""The rule (design, part 2) sentence by sentence: given these records, in any order, then these answers."""

from tests.rule_cases import bad, counts, reached, rows, served, slots
from tests.rule_cases.case import Case, Expected, Row

CASES: list[Case] = [
    *(*counts.DECISIONS, *counts.ERASURE),
    *(*slots.SUCCESSION, *slots.VERDICTS, *slots.VALUES),
    *(*bad.OBJECTS, *bad.ADVISORIES, *bad.HIGHER, *bad.CONTENT),
    *(*reached.EDGES, *reached.QUOTES, *reached.REFERENCES),
    *(*served.ORDER, *served.TIMES, *served.SHOWN),
    *rows.ROWS,
]

__all__ = ["CASES", "Case", "Expected", "Row"]
