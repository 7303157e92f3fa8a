"""Every invariant of the design, I-1 to I-12, is named by a test that holds it."""

import re

from tests.house.source import modules, none

INVARIANTS = [f"I-{number}" for number in range(1, 13)]
NAME = re.compile(r"\bI-\d+\b")

# What no test names yet, with the reason. An entry goes as soon as a test names it.
NOT_YET: dict[str, str] = {
    "I-12": "no model takes part yet; it comes with extraction from the text of transcripts",
}


def named_in(texts: list[str]) -> set[str]:
    return {name for text in texts for name in NAME.findall(text)}


def invariant_faults(named: set[str], not_yet: dict[str, str]) -> list[str]:
    missing = [f"{name} is named by no test" for name in INVARIANTS if name not in named and name not in not_yet]
    built = [f"{name} is named by a test: take it out of NOT_YET" for name in not_yet if name in named]
    unknown = [f"{name} is no invariant of the design" for name in sorted(named - set(INVARIANTS))]
    return missing + built + unknown


def test_each_invariant_is_named_by_a_test() -> None:
    texts = [
        module.text
        for module in modules()
        if module.path.startswith("tests/") and not module.path.startswith("tests/house/")
    ]
    none(invariant_faults(named_in(texts), NOT_YET))


def test_an_invariant_without_a_test_is_found() -> None:
    assert invariant_faults(set(INVARIANTS) - {"I-7"}, {}) == ["I-7 is named by no test"]


def test_an_entry_of_not_yet_that_is_built_is_found() -> None:
    assert invariant_faults(set(INVARIANTS), {"I-12": "reason"}) == ["I-12 is named by a test: take it out of NOT_YET"]


def test_a_number_that_the_design_does_not_have_is_found() -> None:
    assert invariant_faults(named_in(["I-13", *INVARIANTS]), {}) == ["I-13 is no invariant of the design"]


def test_a_name_is_not_taken_for_its_prefix() -> None:
    assert named_in(["holds I-12, not I-1x"]) == {"I-12"}
