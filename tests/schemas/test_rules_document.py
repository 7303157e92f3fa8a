"""Rules documents: closed, versioned and bounded; a fault is named by its field. Templates and line patterns."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tether_schemas.fields import BadField
from tether_schemas.rules import RULES_MAX, check_rules, rules_of_toml
from tether_schemas.templates import LINE_CHARS_MAX, Failed, parse_lines, parse_template

from tests.raw import Json, put

RULE: Json = {"name": "a", "tool": "t", "assertion": {"subject": "item:a@1", "predicate": "p", "value": 1}}
LINK: Json = {"dependent": "item:a@1", "premises": ["item:b@1"]}


def document(*rules: Json) -> Json:
    return {"version": 1, "rules": list(rules)}


@pytest.mark.parametrize(
    ("bad", "field", "reason"),
    [
        ({}, "version", "is missing"),
        ({"version": 2, "rules": []}, "version", "is 1, not 2"),
        ({"version": 1}, "rules", "is missing"),
        ({"version": 1, "rules": [], "rule": []}, "rule", "check its spelling"),
        (document(RULE, RULE), "rules.1.name", "taken"),
        (document({"name": "a", "tool": "t"}), "rules.0.assertion", "is missing"),
        (document(put(RULE, "assertion.subjct", "x")), "rules.0.assertion.subjct", "check its spelling"),
        (document(put(RULE, "assertion.subject", ...)), "rules.0.assertion.subject", "is missing"),
        (document(put(RULE, "assertion.subject", "{a")), "rules.0.assertion.subject", "without its }"),
        (document(put(RULE, "assertion.subject", "a}")), "rules.0.assertion.subject", "without its {"),
        (document(put(RULE, "assertion.subject", "{a..b}")), "rules.0.assertion.subject", "no JMESPath"),
        (document(put(RULE, "assertion.subject", "{}")), "rules.0.assertion.subject", "no JMESPath"),
        (document(put(RULE, "assertion.value", [{"a": "{a"}])), "rules.0.assertion.value", "without its }"),
        (document(put(RULE, "assertion.premises", ["{(}"])), "rules.0.assertion.premises.0", "no JMESPath"),
        (document(put(RULE, "assertion.premises", "x")), "rules.0.assertion.premises", "is a list, not 'x'"),
        (document(put(RULE, "assertion.mode", "loud")), "rules.0.assertion.mode", "explicit"),
        (document(put(RULE, "when", "a ==")), "rules.0.when", "no JMESPath"),
        (document(put(RULE, "when", "a && [nosuch(a)]")), "rules.0.when", "no function nosuch"),
        (document(put(RULE, "when", "length(a, b)")), "rules.0.when", "takes 1 arguments"),
        (document(put(RULE, "when", "a == `ok`")), "rules.0.when", "write texts as 'text'"),
        (document(put(RULE, "when", "merge()")), "rules.0.when", "or more"),
        (document(put(RULE, "when", "a" * 1001)), "rules.0.when", "longer than 1000"),
        (document(put(RULE, "when", "(" * 500 + "a" + ")" * 499)), "rules.0.when", ""),
        (document({**RULE, "each": "a", "lines": "{a}"}), "rules.0.lines", "without each"),
        (document({**RULE, "text": "a"}), "rules.0.text", "goes with lines"),
        (document({**RULE, "where": "a"}), "rules.0.where", "write when"),
        (document(put({**RULE, "link": LINK}, "link.premises", [])), "rules.0.link.premises", "at least 1"),
        (document(*({**RULE, "name": str(i)} for i in range(RULES_MAX + 1))), "rules", "at most 200"),
        (document(put(RULE, "assertion.value", 2**70)), "rules[0].assertion.value", "64 bits"),
        (document({**RULE, "lines": "x"}), "rules.0.lines", "names nothing"),
        (document({**RULE, "lines": "{a}{b}"}), "rules.0.lines", "touch"),
        (document({**RULE, "lines": "{a} {a}"}), "rules.0.lines", "twice"),
        (document({**RULE, "lines": "{a...} {b}"}), "rules.0.lines", "stands last"),
        (document({**RULE, "lines": "{a...} b"}), "rules.0.lines", "stands last"),
        (document({**RULE, "lines": "{A}"}), "rules.0.lines", "names nothing"),
        (document({**RULE, "lines": "{a} {"}), "rules.0.lines", "brace"),
    ],
)
def test_a_bad_document_is_refused_with_field_and_reason(bad: Json, field: str, reason: str) -> None:
    with pytest.raises(BadField) as caught:
        check_rules(bad)
    assert (caught.value.field, reason in caught.value.reason) == (field, True), caught.value


def test_toml_is_read_and_checked() -> None:
    text = 'version = 1\n[[rules]]\nname = "a"\ntool = "t"\nlink = {dependent = "item:a@1", premises = ["item:b@1"]}\n'
    assert rules_of_toml(text) == document({"name": "a", "tool": "t", "link": LINK})
    for bad, reason in {
        "a =": "no TOML",
        text + "when = 2026-01-31T12:00:00Z": "datetime",
        "version = 1": "missing",
    }.items():
        with pytest.raises(BadField, match=reason):
            rules_of_toml(bad)


@settings(max_examples=500)
@given(st.text("{}'\"`\\ab.[]()&|@ ", max_size=20))
def test_any_text_is_a_template_or_a_bad_field(text: str) -> None:
    try:
        template = parse_template(text)
    except BadField:
        return
    try:
        template.value({"a": {"b": [1]}})
        template.values({"a": {"b": [1]}})
    except Failed:
        pass


@pytest.mark.parametrize(
    ("pattern", "line", "found"),
    [
        ("{a} {b}", "x y", {"a": "x", "b": "y"}),
        ("{a} {b}", "  x \t  y\r", {"a": "x", "b": "y"}),
        ("{a} {b}", "x", None),
        ("{a} {b}", "x y z", None),
        ("{a} {b...}", "x y  z", {"a": "x", "b": "y z"}),
        ("{a}@{v} ok", "@s/p@1 ok", {"a": "@s/p", "v": "1"}),
        ("{a}@{v} ok", "p@1 bad", None),
        ("{a}@{v}", "p@", None),
        ("{a}@{v}", "p@1@2", {"a": "p", "v": "1@2"}),
        ("== {name} ==", "== x ==", {"name": "x"}),
        ("== {name} ==", "== x y ==", None),
        ("PASSED {test}", "FAILED t", None),
        ("{a}", "", None),
    ],
)
def test_a_line_fits_its_pattern_or_not(pattern: str, line: str, found: dict[str, str] | None) -> None:
    assert parse_lines(pattern).match(line) == found


@given(st.text("ab@ \t", max_size=12), st.text("ab@ \t", max_size=12))
def test_what_fits_two_places_is_the_line_again(one: str, two: str) -> None:
    found = parse_lines("{x}@{y...}").match(f"{one}@{two}")
    if found is not None:
        assert f"{found['x']}@{found['y']}" == " ".join(f"{one}@{two}".split())


def test_no_line_stalls_a_pattern() -> None:
    """A pattern that tried every way to fit this line would not end within a lifetime."""
    pattern: Any = parse_lines("@".join(f"{{a{index}}}" for index in range(20)) + "!")
    assert pattern.match("a@" * (LINE_CHARS_MAX // 2)) is None
    assert pattern.match("x" * (LINE_CHARS_MAX + 1)) is None
