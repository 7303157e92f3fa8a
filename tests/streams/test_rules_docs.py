"""Each example of docs/rules.md does what the page says."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tether_schemas.facts import Asserted, Linked
from tether_schemas.rules import RULES_MAX, AssertionTemplate, LinkTemplate, Rule, rules_of_toml
from tether_schemas.templates import EXPRESSION_CHARS_MAX
from tether_streams.core.claims import FACTS_PER_EVENT_MAX
from tether_streams.core.rules import RuleSet

from tests.raw import event, extracted

PAGE = (Path(__file__).parents[2] / "docs" / "rules.md").read_text()
EXAMPLES = re.findall(r"```toml\n(.*?)```\s+```json\n(.*?)```\s+```json\n(.*?)```", PAGE, re.DOTALL)
ALWAYS = {"Asserted": ("type", "subject", "predicate", "value", "issuer", "mode"), "Linked": ("type", "dependent")}


def as_told(fact: Asserted | Linked) -> dict[str, Any]:
    """A fact as the page writes it: references as text, nothing that is as always."""
    fields = type(fact).model_fields
    told = {name: value for name, value in fact if name in ALWAYS[fact.type] or value != fields[name].default}
    told["premises"] = [ref.public() for ref in fact.premises]
    if isinstance(fact, Linked):
        told["dependent"] = fact.dependent.public()
    hidden = {"assertion_id", "link_id", "place"} | ({"premises"} if not told["premises"] else set[str]())
    return {name: value for name, value in told.items() if name not in hidden}


def test_the_page_has_the_examples_that_it_promises() -> None:
    assert len(EXAMPLES) == PAGE.count("```toml") == 5
    for title in ("An item check", "A CI run", "A package audit", "`go mod graph`"):
        assert f"## {title}\n" in PAGE


@pytest.mark.parametrize(("rules", "data", "told"), EXAMPLES)
def test_an_example_does_what_the_page_says(rules: str, data: str, told: str) -> None:
    made = event("tool_result", json.loads(data))
    record, faults = extracted(made, RuleSet.compile(rules_of_toml(rules)))
    expected = json.loads(told)
    for fact in expected["facts"]:
        if fact["type"] == "Asserted":
            fact.setdefault("observed_at", made["time"])
    assert [fault.reason for fault in faults] == expected["faults"]
    assert [as_told(fact) for fact in record.facts[1:] if isinstance(fact, Asserted | Linked)] == expected["facts"]


def test_the_page_names_every_field_and_limit() -> None:
    table = PAGE[PAGE.index("## Every field") :]
    for field in [*Rule.model_fields, *LinkTemplate.model_fields]:
        assert f"`{field}`" in table, field
    for limit in (RULES_MAX, FACTS_PER_EVENT_MAX, EXPRESSION_CHARS_MAX):
        assert f"{limit:,}" in table


def test_an_assertion_template_has_every_field_of_an_assertion() -> None:
    own = {"type", "assertion_id", "place", "possible", "value_key"}
    assert set(AssertionTemplate.model_fields) == set(Asserted.model_fields) - own
