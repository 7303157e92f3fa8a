"""Rules: what they make of results, in which order, and what they do where they cannot."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tether_schemas.facts import Asserted, Linked
from tether_streams.core.claims import FACTS_PER_EVENT_MAX
from tether_streams.core.extract import Fault
from tether_streams.core.rules import FAULTS_PER_RULE_MAX, RuleSet

from tests.raw import Json, extracted, tool_result, write
from tests.schemas.test_canonical import VALUES

CLAIM: Json = {"subject": "user:{result.who}", "predicate": "drinks", "value": "{result.what}"}
RESULT: Json = {"who": "ana", "what": "tea", "list": ["a@1", "b@2"], "none": None}


def rules(*each: Json) -> RuleSet:
    """A rule set; `name` and `tool` are filled in."""
    named = [{"name": f"r{index}", "tool": "*", **rule} for index, rule in enumerate(each)]
    return RuleSet.compile({"version": 1, "rules": named})


def made(ruleset: RuleSet, fields: Json | None = None) -> list[Asserted | Linked]:
    """What the rules make of a result, without faults."""
    record, faults = extracted(fields or tool_result(result=RESULT), ruleset)
    assert faults == ()
    return [fact for fact in record.facts if isinstance(fact, Asserted | Linked)]


def asserted(template: Json, fields: Json | None = None) -> Asserted:
    (fact,) = made(rules({"assertion": template}), fields)
    assert isinstance(fact, Asserted)
    return fact


def faults(rule: Json, fields: Json | None = None) -> tuple[Fault, ...]:
    record, told = extracted(fields or tool_result(result=RESULT), rules(rule))
    assert len(record.facts) == 1
    return told


@pytest.mark.parametrize(
    ("tool", "source", "applies"),
    [
        ("shell", None, True),
        ("sh*", None, True),
        ("sh?ll", "c*", True),
        ("SHELL", None, False),
        ("hell", None, False),
        ("shell", "other", False),
        ("*", "ci", True),
    ],
)
def test_a_rule_names_tools_and_sources(tool: str, source: str | None, applies: bool) -> None:
    rule = {"tool": tool, "assertion": CLAIM} | ({"source": source} if source else {})
    assert bool(made(rules(rule))) is applies


@pytest.mark.parametrize(
    ("when", "applies"),
    [
        ("result.who == 'ana'", True),
        ("result.none", False),
        ("`0`", True),
        ("''", False),
        ("`[]`", False),
        ("`{}`", False),
        ("`false`", False),
    ],
)
def test_when_holds_unless_it_finds_nothing(when: str, applies: bool) -> None:
    assert bool(made(rules({"when": when, "assertion": CLAIM}))) is applies


def test_a_template_of_one_expression_keeps_the_type() -> None:
    assert asserted({**CLAIM, "value": "{result.list}"}).value == ["a@1", "b@2"]
    assert asserted({**CLAIM, "value": "{length(result.list)}"}).value == 2
    assert asserted({**CLAIM, "value": "n{length(result.list)}"}).value == "n2"
    assert asserted({**CLAIM, "value": ["{result.what}", {"a": "{result.who}!"}, 5]}).value == ["tea", {"a": "ana!"}, 5]


def test_braces_and_quotes_stand_in_expressions_and_beside_them() -> None:
    assert asserted({**CLAIM, "value": "{{{result.what}}}"}).value == "{tea}"
    assert asserted({**CLAIM, "value": "{result.{a: who, b: '}'}}"}).value == {"a": "ana", "b": "}"}
    assert asserted({**CLAIM, "value": '{result."who"}'}).value == "ana"
    assert asserted({**CLAIM, "value": ""}).value == ""


def test_the_event_and_the_arguments_are_at_hand() -> None:
    fields = tool_result("shell", {"x": 1}, RESULT, subject="s")
    value = "{event.source} {event.id} {event.namespace} {event.time} {event.subject} {event.tool} {arguments.x}"
    assert asserted({**CLAIM, "value": value}, fields).value == f"ci e-1 acme {fields['time']} s shell 1"


def test_each_goes_through_a_list_and_where_chooses() -> None:
    rule = {"each": "result.list", "where": "contains(item, 'a')", "assertion": {**CLAIM, "value": "{item}"}}
    assert [fact.value for fact in made(rules(rule)) if isinstance(fact, Asserted)] == ["a@1"]


def test_one_rule_may_assert_and_link() -> None:
    link = {"dependent": "item:c@3", "premises": ["item:{result.list}"], "grade": "possible"}
    one, two = made(rules({"assertion": CLAIM, "link": link}))
    assert isinstance(one, Asserted) and isinstance(two, Linked)
    assert [ref.text for ref in two.premises] == ["item:a@1", "item:b@2"]
    assert (one.place, two.place, two.grade) == (0, 1, "possible")


def test_evidence_may_be_a_premise() -> None:
    fields = tool_result(result={**RESULT, "from": [{"source": "s", "id": "1"}]})
    (premise,) = asserted({**CLAIM, "premises": ["{result.from}"]}, fields).premises
    assert premise.public() == {"source": "s", "id": "1"}


def test_an_optional_field_that_finds_null_is_left_out() -> None:
    fact = asserted({**CLAIM, **dict.fromkeys(["scope", "issuer", "observed_at", "authority"], "{result.none}")})
    assert (fact.scope, fact.issuer, fact.authority) == ("", "ci/shell", "unknown")


def test_equal_claims_of_one_event_are_one_assertion() -> None:
    assert len(made(rules({"each": "result.list", "assertion": CLAIM}, {"assertion": CLAIM}))) == 1


def test_own_rules_come_before_those_of_all_namespaces() -> None:
    own, public = rules({"assertion": CLAIM}), rules({"assertion": {**CLAIM, "value": "x"}})
    both = own.before(public)
    assert [fact.value for fact in made(both) if isinstance(fact, Asserted)] == ["tea", "x"]
    assert both.version == f"{own.version}+{public.version}"
    assert own.before(None) is own


def test_a_record_says_which_rules_were_in_force() -> None:
    ruleset = rules({"assertion": CLAIM})
    assert extracted(tool_result(), ruleset)[0].rules == ruleset.version == rules({"assertion": CLAIM}).version
    assert ruleset.version != rules({"assertion": {**CLAIM, "value": "x"}}).version


def test_tethers_own_tools_and_failed_calls_go_by_no_rule() -> None:
    ruleset = rules({"assertion": {**CLAIM, "value": "x"}})
    assert [fact.value for fact in made(ruleset, write()) if isinstance(fact, Asserted)] == ["tea"]
    failed = tool_result(result=RESULT)
    failed["data"]["is_error"] = True
    assert made(ruleset, failed) == []


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ({"assertion": {**CLAIM, "value": "{result.none}"}}, "value: null is no claim"),
        ({"assertion": {**CLAIM, "subject": "user:{result.none}"}}, "subject: {result.none} finds nothing"),
        ({"assertion": {**CLAIM, "subject": "user:{result.list}"}}, "subject: {result.list} finds a list"),
        ({"assertion": {**CLAIM, "subject": "{result.who}"}}, "subject: bad subject 'ana': must be scheme:name"),
        ({"assertion": {**CLAIM, "predicate": "passes"}}, "value: a verdict is true or false"),
        ({"assertion": {**CLAIM, "premises": ["item:{result.who}"]}}, "premises.0: bad premise 'item:ana'"),
        ({"assertion": {**CLAIM, "premises": ["{result.none}"]}}, "premises: {result.none} finds nothing"),
        ({"assertion": {**CLAIM, "premises": ["{result.list}{result.list}"]}}, "finds two lists"),
        ({"assertion": {**CLAIM, "observed_at": "{result.what}"}}, "observed_at: 'tea' is no RFC 3339 time"),
        ({"assertion": {**CLAIM, "value": "{to_number('1e999')}"}}, "value: is NaN or infinite"),
        ({"assertion": {**CLAIM, "value": "{abs(result.who)}"}}, "value: {abs(result.who)}: In function abs()"),
        ({"each": "result.who", "assertion": CLAIM}, "each: {result.who} finds no list"),
        ({"lines": "{a}", "assertion": CLAIM}, "lines: {result} is no text"),
        ({"when": "abs(result.who)", "assertion": CLAIM}, "{abs(result.who)}: In function abs()"),
        ({"each": "result.list", "where": "abs(item)", "assertion": CLAIM}, "where: {abs(item)}: In function abs()"),
        ({"link": {"dependent": "item:a", "premises": ["item:b@1"]}}, "dependent: bad dependent 'item:a'"),
    ],
)
def test_a_rule_that_fails_makes_nothing_and_says_why(rule: Json, reason: str) -> None:
    first, *_ = faults(rule)
    assert first.reason.find(reason) >= 0, first.reason
    assert first.rule == "r0"


def test_one_bad_item_does_not_keep_the_others() -> None:
    fields = tool_result(result=["a@1", "b", "c@3"])
    rule = {"each": "result", "assertion": {"subject": "item:{item}", "predicate": "passes", "value": True}}
    record, told = extracted(fields, rules(rule))
    assert [fact.subject for fact in record.facts if isinstance(fact, Asserted)] == ["item:a@1", "item:c@3"]
    assert len(told) == 1


def test_only_so_many_faults_of_a_rule_are_told() -> None:
    told = faults({"each": "result", "assertion": CLAIM}, tool_result(result=[None] * 100))
    assert len(told) == FAULTS_PER_RULE_MAX + 1
    assert told[-1].reason == "and 90 more items of this result"


def test_one_event_makes_only_so_many_facts() -> None:
    fields = tool_result(result=list(range(FACTS_PER_EVENT_MAX + 5)))
    record, told = extracted(
        fields, rules({"each": "result", "assertion": {**CLAIM, "subject": "n:{item}", "value": 1}})
    )
    assert len(record.facts) == 1 + FACTS_PER_EVENT_MAX
    assert "more than 10000 facts" in told[0].reason


QUERIES = st.sampled_from(
    [
        *("result", "result.a", "result[]", "result.*", "result[0].b", "result > `1`", "keys(result)", "sum(result)"),
        *("max_by(result, &a)", "sort(result)", "join('', result)", "to_number(result)", "split(result, 'a')"),
        "merge(result, result)",
    ]
)


@given(VALUES, QUERIES, QUERIES)
def test_no_result_makes_extraction_raise(result: Any, one: str, two: str) -> None:
    claim = {"subject": f"item:{{{one}}}@1", "predicate": "p", "value": f"{{{two}}}", "premises": [f"item:{{{two}}}"]}
    over_lists = {"each": one, "where": two, "assertion": {**claim, "value": "{item}"}}
    over_lines = {"lines": "{a} {b...}", "text": one, "assertion": claim}
    extracted(tool_result(result=result), rules({"when": one, "assertion": claim}, over_lists, over_lines))
