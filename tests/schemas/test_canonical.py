"""Canonical JSON: RFC 8785's own vectors, integers in full, and what is refused."""

import json
import math
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tether_schemas.canonical import (
    DEPTH_MAX,
    INT_MAX,
    INT_MIN,
    NotJson,
    canonical_json,
    check_json,
    content_hash,
    content_id,
)

# RFC 8785, appendix B: the bits of an IEEE double, and its text.
NUMBERS = [
    ("0000000000000000", "0"),
    ("8000000000000000", "0"),
    ("0000000000000001", "5e-324"),
    ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"),
    ("ffefffffffffffff", "-1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"),
    ("c340000000000000", "-9007199254740992"),
    ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"),
    ("44b52d02c7e14af6", "1e+23"),
    ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"),
    ("444b1ae4d6e2ef4f", "999999999999999900000"),
    ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
    ("3eb0c6f7a0b5ed8d", "0.000001"),
    ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555554", "333333333.33333325"),
    ("41b3de4355555555", "333333333.3333333"),
    ("41b3de4355555556", "333333333.3333334"),
    ("41b3de4355555557", "333333333.33333343"),
    ("becbf647612f3696", "-0.0000033333333333333333"),
    ("43143ff3c1cb0959", "1424953923781206.2"),
]

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=15,
)


@pytest.mark.parametrize(("bits", "text"), NUMBERS)
def test_numbers_are_written_as_rfc_8785_says(bits: str, text: str) -> None:
    value: float = struct.unpack(">d", bytes.fromhex(bits))[0]
    assert canonical_json(value) == text.encode()
    assert canonical_json({"a": [value]}) == b'{"a":[%s]}' % text.encode()


def test_the_example_of_rfc_8785() -> None:
    value = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"\u002f",
        "literals": [None, True, False],
    }
    assert canonical_json(value).decode() == (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


def test_names_are_sorted_by_utf_16() -> None:
    names = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    written = json.loads(canonical_json({name: 0 for name in names}))
    assert list(written) == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]


def test_control_characters_are_escaped_in_the_short_form_where_there_is_one() -> None:
    text = "".join(map(chr, range(0x20))) + '"\\/\x7f\u2028'
    assert canonical_json(text).decode() == (
        '"\\u0000\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\b\\t\\n\\u000b\\f\\r\\u000e\\u000f'
        "\\u0010\\u0011\\u0012\\u0013\\u0014\\u0015\\u0016\\u0017\\u0018\\u0019\\u001a\\u001b\\u001c\\u001d\\u001e\\u001f"
        '\\"\\\\/\x7f\u2028"'
    )


@pytest.mark.parametrize("value", [2**53 + 1, 2**64 - 1, -(2**63)])
def test_integers_are_written_in_full(value: int) -> None:
    assert canonical_json([value]) == b"[%d]" % value


@pytest.mark.parametrize(("a", "b"), [(1, 1.0), (0, -0.0), (10**15, 1e15), ([1.0, 2.5], [1, 2.5])])
def test_equal_numbers_are_the_same_content(a: Any, b: Any) -> None:
    assert content_hash({"x": a}) == content_hash({"x": b})


@given(VALUES)
def test_canonical_json_is_the_canonical_json_of_what_it_says(value: Any) -> None:
    written = canonical_json(value)
    assert canonical_json(json.loads(written, parse_int=_number)) == written


def _number(digits: str) -> int | float:
    """RFC 8785 writes a float such as 1e20 without a point; beyond 64 bits it can only have been one."""
    return int(digits) if INT_MIN <= int(digits) <= INT_MAX else float(digits)


@given(VALUES)
def test_the_fast_form_is_the_slow_one(value: Any) -> None:
    """Beside a number that only the slow form can write, all else is written as without it."""
    assert canonical_json([value, 1e300]) == canonical_json([value])[:-1] + b",1e+300]"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_read_back_as_they_were(value: float) -> None:
    assert float(canonical_json(value)) == value


@pytest.mark.parametrize(
    ("value", "path", "reason"),
    [
        ({"a": {"b": [1, math.nan]}}, "a.b[1]", "NaN"),
        ({"a": -math.inf}, "a", "infinite"),
        ([2**64], "[0]", "64 bits"),
        ({"a": -(2**63) - 1}, "a", "64 bits"),
        ({"a": ["x\ud800"]}, "a[0]", "lone surrogate"),
        ({"a": {"\udfff": 1}}, "a", "key that contains a lone surrogate"),
        ({"a": {1: 2}}, "a", "key that is no string"),
        ({"a": {"b": b"x"}}, "a.b", "is a bytes"),
        ({"a": {1, 2}}, "a", "is a set"),
        (object(), "", "is a object"),
    ],
)
def test_what_json_cannot_say_is_refused_with_its_place(value: Any, path: str, reason: str) -> None:
    with pytest.raises(NotJson, match=reason) as caught:
        canonical_json(value)
    assert caught.value.path == path


def nested(depth: int) -> Any:
    value: Any = 1
    for step in range(depth):
        value = [value] if step % 2 else {"a": value}
    return value


def test_nesting_has_a_limit() -> None:
    assert check_json(nested(DEPTH_MAX)).plain
    with pytest.raises(NotJson, match="nested deeper than 64"):
        check_json(nested(DEPTH_MAX + 1))
    with pytest.raises(NotJson, match="nested deeper than 64"):
        check_json(nested(100_000))


def test_a_value_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(NotJson, match="nested deeper"):
        check_json(value)


def test_the_survey_counts_names() -> None:
    assert check_json({"a": [{"b": 1, "c": {"d": None}}, 1.0], "é": "x"}) == (False, 5)


def test_an_id_is_of_the_content_alone() -> None:
    assert content_id("as", {"a": 1, "b": 2}) == content_id("as", {"b": 2, "a": 1})
    assert content_id("as", {"a": 1}) != content_id("as", {"a": 2})
    assert content_id("as", {"a": 1}) == content_id("as", {"a": 1}, True)
