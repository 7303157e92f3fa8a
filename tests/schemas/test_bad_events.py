"""Bad input gets BadEvent, naming the field and the reason: as a dict, and as JSON bytes where JSON can say it."""

import json
from typing import Any

import pytest
from tether_schemas.codec import read_event
from tether_schemas.errors import BadEvent

from tests.raw import (
    Json,
    decision,
    deletion,
    event,
    link,
    osv,
    policy,
    put,
    revocation,
    tool_result,
    transcript,
    write,
)

VERDICT = write(subject="item:grouse@2", predicate="passes", value=True)

ENVELOPE = [
    (put(write(), "id", ...), "id", "is missing"),
    (put(write(), "id", 7), "id", "is a string, not "),
    (put(write(), "id", ""), "id", "is empty; give at least 1 character"),
    (put(write(), "id", "x" * 1025), "id", "has 1,025 characters; at most 1,024"),
    (put(write(), "id", "a\x00b"), "id", "control character"),
    (put(write(), "id", "a\x85b"), "id", "control character"),
    (put(write(), "source", "a\nb"), "source", "control character"),
    (put(write(), "specversion", "0.3"), "specversion", "1.0"),
    (put(write(), "type", ...), "type", "is missing"),
    (put(write(), "type", 5), "type", "none of tether.transcript.v1"),
    (put(write(), "type", "tether.tool_result.v2"), "type", "none of tether.transcript.v1"),
    (put(write(), "time", ...), "time", "is missing"),
    (put(write(), "time", "2026-01-31T12:00:00"), "time", "no offset"),
    (put(write(), "time", "yesterday"), "time", "RFC 3339"),
    (put(write(), "time", 1769860800), "time", "is a string, not "),
    (put(write(), "namespace", ...), "namespace", "is missing"),
    (put(write(), "namespace", "a/b/c"), "namespace", "give tenant or tenant/workspace"),
    (put(write(), "namespace", "a b"), "namespace", "give tenant or tenant/workspace"),
    (put(write(), "namespace", "a*"), "namespace", "give tenant or tenant/workspace"),
    (put(write(), "namespace", ""), "namespace", "give tenant or tenant/workspace"),
    (put(write(), "namespace", "acme\n"), "namespace", "give tenant or tenant/workspace"),
    (put(write(), "datacontenttype", "text/plain"), "datacontenttype", "application/json"),
    (put(write(), "Trace", "x"), "Trace", "check its spelling"),
    (put(write(), "data_base64", "eA=="), "data_base64", "check its spelling"),
    (put(write(), "trace", {"a": 1}), "trace", "a string, a boolean or an integer"),
    (put(write(), "data", ...), "data", "is missing"),
    (put(write(), "data", []), "data", "is an object, not "),
]
PUBLIC = [
    (put(write(), "namespace", "*"), "namespace", "only advisories"),
    (put(transcript(), "namespace", "*"), "namespace", "only advisories"),
    (put(deletion({"source": "ci"}), "namespace", "*"), "namespace", "only advisories"),
    (
        put(decision("invalidate", target={"assertion": "as_" + "0" * 32}), "namespace", "*"),
        "namespace",
        "decisions on",
    ),
]
VALUES = [
    (tool_result(result="\ud800"), "data.result", "lone surrogate"),
    (tool_result(result={"a": ["x", "\udfffy"]}), "data.result.a[1]", "lone surrogate"),
    (tool_result(result=2**64), "data.result", "64 bits"),
    (tool_result(result=-(2**63) - 1), "data.result", "64 bits"),
    (tool_result(result=float("nan")), "data.result", "NaN"),
    (tool_result(result=float("inf")), "data.result", "infinite"),
]
TRANSCRIPT = [
    (put(transcript(), "data.seq", "1"), "data.seq", "is an integer, not "),
    (put(transcript(), "data.seq", 1.0), "data.seq", "is an integer, not "),
    (put(transcript(), "data.seq", True), "data.seq", "is an integer, not "),
    (put(transcript(), "data.seq", 2**63), "data.seq", "is below 9,223,372,036,854,775,808"),
    (put(transcript(), "data.role", ...), "data.role", "is missing"),
    (put(transcript(), "data.content", 5), "data.content", "is a string or a list, not 5"),
    (put(transcript(), "data.contents", "x"), "data.contents", "check its spelling"),
    (put(transcript(), "data.tool_calls", [5]), "data.tool_calls.0", "is an object, not "),
]
TOOL_RESULT = [
    (put(tool_result(), "data.is_error", "no"), "data.is_error", "is true or false, not "),
    (put(tool_result(), "data.is_error", 0), "data.is_error", "is true or false, not "),
    (put(tool_result(), "data.result", ...), "data.result", "is missing"),
    (put(tool_result(), "data.arguments", []), "data.arguments", "is an object, not "),
    (put(tool_result(), "data.tool", "a\tb"), "data.tool", "control character"),
]
WRITE = [
    (write(subject="grouse"), "data.arguments.subject", "scheme:name"),
    (write(subject=None), "data.arguments.subject", "is missing"),
    (write(predicate=None), "data.arguments.predicate", "is missing"),
    (write(value=None), "data.arguments.value", "is missing"),
    (put(write(), "data.arguments.value", None), "data.arguments.value", "null is no claim"),
    (write(valeu=1), "data.arguments.valeu", "check its spelling"),
    (write(scope="a\x00"), "data.arguments.scope", "control character"),
    (write(authority="root"), "data.arguments.authority", "system-of-record"),
    (write(mode="loud"), "data.arguments.mode", "explicit"),
    (write(confidence=1.5), "data.arguments.confidence", "is at most 1, not 1.5"),
    (write(confidence="0.5"), "data.arguments.confidence", "is a number, not '0.5'"),
    (write(premises_complete=1), "data.arguments.premises_complete", "is true or false, not "),
    (write(readers=[]), "data.arguments.readers", "is empty; give at least 1 item"),
    (write(readers="ana"), "data.arguments.readers", "is a list, not "),
    (write(observed_at="2026-01-31T12:00:00"), "data.arguments.observed_at", "no offset"),
    (write(valid_to="soon"), "data.arguments.valid_to", "RFC 3339"),
    (write(review_at="soon"), "data.arguments.review_at", "RFC 3339"),
    (write(derived_from=["item:a@1", "item:b"]), "data.arguments.derived_from.1", "names no version"),
    (write(derived_from=["pkg:pypi/django"]), "data.arguments.derived_from.0", "names no version"),
    (write(derived_from=[7]), "data.arguments.derived_from.0", "is a string or an object, not 7"),
    (write(derived_from=[{"source": "ci"}]), "data.arguments.derived_from.0.id", "is missing"),
    (write(derived_from="item:a@1"), "data.arguments.derived_from", "is a list, not "),
    (put(VERDICT, "data.arguments.value", "yes"), "data.arguments.value", "true or false"),
    (put(VERDICT, "data.arguments.value", 1), "data.arguments.value", "true or false"),
    (put(VERDICT, "data.arguments.subject", "item:grouse"), "data.arguments.subject", "one exact version"),
    (put(VERDICT, "data.arguments.valid_from", "2026-01-01T00:00:00Z"), "data.arguments.valid_from", "no validity"),
    (put(VERDICT, "data.arguments.valid_to", "2026-01-01T00:00:00Z"), "data.arguments.valid_to", "no validity"),
    (
        write(subject="item:a@1", predicate="passes", value=False, expires_at="2027-01-01T00:00:00Z"),
        "data.arguments.expires_at",
        "does not expire",
    ),
]
LINK = [
    (link(dependent="item:a@1"), "data.arguments.premise", "either premise or premises"),
    (link(dependent="item:a@1", premise="item:b@1", premises=["item:c@1"]), "data.arguments.premise", "either"),
    (
        link(dependent="item:a", premise="item:b@1"),
        "data.arguments.dependent",
        "bad dependent 'item:a': names no version",
    ),
    (link(dependent="item:a@1", premise="item:b"), "data.arguments.premise", "bad premise 'item:b': names no version"),
    (
        link(dependent="as_nope", premise="item:b@1"),
        "data.arguments.dependent",
        "bad dependent 'as_nope': is no assert",
    ),
    (link(dependent="item:a@1", premise="as_" + "A" * 32), "data.arguments.premise", "as_ and 32 digits of 0-9a-f"),
    (link(dependent="item:a@1", premise="ln_" + "0" * 32), "data.arguments.premise", "is no assertion"),
    (link(dependent="item:a@1", premises=[]), "data.arguments.premises", "is empty; give at least 1 item"),
    (link(dependent="item:a@1", premises=["item:b@1", "b"]), "data.arguments.premises.1", "scheme:name"),
    (link(dependent="item:a@1", premise="item:b@1", grade="sure"), "data.arguments.grade", "stated"),
]
ADVISORY = [
    (put(osv(), "data.format", "csaf"), "data.format", "osv"),
    (osv(id=""), "data.advisory.id", "has an id"),
    (osv(id=5), "data.advisory.id", "has an id"),
    (osv(modified=None), "data.advisory.modified", "RFC 3339"),
    (osv(modified="2026"), "data.advisory.modified", "RFC 3339"),
    (osv(withdrawn="2026"), "data.advisory.withdrawn", "RFC 3339"),
    (osv(withdrawn=True), "data.advisory.withdrawn", "RFC 3339"),
    (osv(affected={}), "data.advisory.affected", "list of objects"),
    (osv(affected=[1]), "data.advisory.affected", "list of objects"),
    (osv(aliases="CVE-1"), "data.advisory.aliases", "list of strings"),
    (revocation(subject=None), "data.advisory.subject", "either subject or subjects"),
    (revocation(subjects=[]), "data.advisory.subjects", "is empty; give at least 1 item"),
    (revocation(subject="grouse"), "data.advisory.subject", "scheme:name"),
    (revocation(subjects=["item:a", "a"]), "data.advisory.subjects", "scheme:name"),
    (revocation(modified="now"), "data.advisory.modified", "RFC 3339"),
    (revocation(severity="high"), "data.advisory.severity", "check its spelling"),
]
DELETION = [
    (deletion({}), "data.target", "is one of {evidence"),
    (deletion("e-1"), "data.target", "is one of {evidence"),
    (deletion({"assertion": "as_" + "0" * 32}), "data.target", "is one of {evidence"),
    (deletion({"evidence": {"source": "ci"}}), "data.target.evidence.id", "is missing"),
    (deletion({"session_id": "s"}), "data.target.source", "is missing"),
    (deletion({"subject": "grouse"}), "data.target.subject", "scheme:name"),
    (deletion({"source": "ci", "subject": "item:a"}), "data.target.source", "check its spelling"),
    (deletion({"source": "ci"}, until="2026-01-31"), "data.until", "RFC 3339"),
    (put(deletion({"source": "ci"}), "data.requested_by", ...), "data.requested_by", "is missing"),
]
DECISION = [
    (decision("approve", target={"source": "ci"}), "data.action", "reserved"),
    (decision("bless", target={"source": "ci"}), "data.action", "invalidate"),
    (decision("invalidate"), "data.target", "say what is decided on"),
    (decision("restore", target={"subject": "item:a@1"}), "data.target", "is one of {evidence"),
    (decision("restore", target={"assertion": "as_1"}), "data.target.assertion", "as_ or ln_ and 32 digits of 0-9a-f"),
    (put(decision("restore", target={"source": "ci"}), "data.reason", ...), "data.reason", "say why"),
    (decision("restore", target={"source": "ci"}, policy={}), "data.policy", "action policy only"),
    (policy(), "data.policy", "either policy or rules"),
    (policy(policy={}, rules={}), "data.policy", "either policy or rules"),
    (policy(policy={}, target={"source": "ci"}), "data.target", "has no target"),
    (policy(policy={"predicates": {"x": {"verdit": True}}}), "data.policy.predicates.x.verdit", "spelling"),
    (policy(policy={"predicates": {"x": {"verdict": "yes"}}}), "data.policy.predicates.x.verdict", "true or false"),
    (policy(policy={"predicates": {"float": {"verdict": 7}}}), "data.policy.predicates.float.verdict", "not 7"),
    (policy(policy={"predicates": {"as:x": 7}}), "data.policy.predicates.as:x", "is an object, not 7"),
    (policy(rules={"rules": []}), "data.rules.version", "is missing"),
    (policy(rules={"version": 1, "rules": [{"name": "a", "tool": "b"}]}), "data.rules.rules.0.assertion", "missing"),
]
CASES: list[tuple[Json, str, str]] = [
    *(*ENVELOPE, *PUBLIC, *VALUES, *TRANSCRIPT, *TOOL_RESULT, *WRITE, *LINK, *ADVISORY, *DELETION, *DECISION)
]


def refusal(raw: Json | bytes | str) -> BadEvent:
    with pytest.raises(BadEvent) as caught:
        read_event(raw)
    return caught.value


@pytest.mark.parametrize(("fields", "field", "reason"), CASES)
def test_a_dict_is_refused_with_field_and_reason(fields: Json, field: str, reason: str) -> None:
    fault = refusal(fields)
    assert (fault.field, reason in fault.reason) == (field, True), fault


@pytest.mark.parametrize(("fields", "field", "reason"), CASES)
def test_json_is_refused_too(fields: Json, field: str, reason: str) -> None:
    """What JSON itself cannot say is refused as no JSON; all else by the same field and reason."""
    fault = refusal(json.dumps(fields).encode())
    no_json = fault.field == "event" and fault.reason.startswith("is no JSON")
    assert no_json or (fault.field, reason in fault.reason) == (field, True), fault


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "no JSON"),
        (b"{", "no JSON"),
        (b"\xff", "no JSON"),
        (b"[1]", "is a list"),
        (b'"x"', "is a str"),
        (b'{"a":NaN}', "no JSON"),
        (b"\xef\xbb\xbf{}", "no JSON"),
        ("\ud800", "lone surrogate"),
        (b"[" * 100_000, "no JSON"),
        (b"1" * 10_000, "no JSON"),
        (7, "is a int"),
        (None, "is a NoneType"),
    ],
)
def test_what_is_no_event_at_all_is_refused(raw: Any, reason: str) -> None:
    assert reason in refusal(raw).reason


@pytest.mark.parametrize("value", [b"1e999", b"-1e999", b"18446744073709551616", b"-9223372036854775809"])
def test_a_number_that_json_can_write_and_nothing_can_keep_is_refused(value: bytes) -> None:
    text = json.dumps(tool_result(result="?")).encode().replace(b'"?"', value)
    assert refusal(text).field == "data.result"


@pytest.mark.parametrize("value", [b"x", {1}, (i for i in "x"), object(), 1j], ids=lambda value: type(value).__name__)
def test_a_python_value_that_json_does_not_have_is_refused(value: Any) -> None:
    fault = refusal(tool_result(result=[value]))
    assert (fault.field, "which JSON does not have" in fault.reason) == ("data.result[0]", True)


@pytest.mark.parametrize(
    "fields",
    [event("tool_result", {"tool": "memory.write", "arguments": {"x": 1}, "result": None, "is_error": True})],
)
def test_the_arguments_of_a_failed_call_are_not_judged(fields: Json) -> None:
    assert read_event(fields).event.id == "e-1"


def test_deep_nesting_is_refused_where_it_begins() -> None:
    deep: Any = 1
    for _ in range(63):
        deep = {"a": deep}
    for raw in (tool_result(result=deep), json.dumps(tool_result(result=deep))):
        fault = refusal(raw)
        assert (fault.field.startswith("data.result.a.a"), fault.reason) == (True, "is nested deeper than 64 levels")
