"""Canonical JSON and content-addressed ids.

Canonical JSON is RFC 8785 (JCS), except that integers are written in full from -2^63 to 2^64-1 (design, part 3). It is
for comparing and for ids only; values are stored as they came.
"""

import hashlib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from math import isfinite
from typing import Any, cast

import orjson

INT_MIN = -(2**63)
INT_MAX = 2**64 - 1
DEPTH_MAX = 64
ID_HEX_DIGITS = 32

# Within these bounds a float that is no whole number is written alike by ECMAScript and by orjson: plain digits.
_PLAIN_FLOAT_MIN = 1e-4
_PLAIN_FLOAT_MAX = 1e15
_BMP_LAST = "\uffff"


class NotJson(ValueError):
    """A value has no canonical JSON form; `path` is dotted, `reason` says why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.path = path
        self.reason = reason


class _Refused(Exception):
    """Something cannot be kept exactly; where and why is looked for only then."""


def check_json(value: Any, path: str = "") -> bool:
    """Check that `value` can be kept exactly; return whether orjson's sorted form is already canonical.

    Raises NotJson naming the place: NaN or infinity, an integer beyond 64 bits, a lone surrogate, a key that is no
    string, nesting deeper than DEPTH_MAX, or a type that JSON does not have.
    """
    try:
        return _is_plain(value, 0)
    except (_Refused, UnicodeEncodeError):
        _explain(value, path, 0)
        raise AssertionError("refused without a reason") from None


def _is_plain(value: object, depth: int) -> bool:  # noqa: C901  # the hottest walk: one call per value, no more
    """The walk of check_json, without paths. Containers look at their strings themselves, which saves calls."""
    kind = type(value)
    if kind is dict:
        if depth >= DEPTH_MAX:
            raise _Refused
        plain = True
        for key, inner in cast(dict[Any, Any], value).items():
            if type(key) is not str:
                raise _Refused
            if not key.isascii():
                key.encode()
                # JCS sorts keys by UTF-16 code units, orjson by code points: they differ beyond the BMP only.
                plain = plain and max(key) <= _BMP_LAST
            if type(inner) is not str:
                if inner is not None and not _is_plain(inner, depth + 1):
                    plain = False
            elif not inner.isascii():
                inner.encode()
        return plain
    if kind is bool or value is None:
        return True
    if kind is list or kind is tuple:
        if depth >= DEPTH_MAX:
            raise _Refused
        # A list, so that the walk does not stop at the first that is not plain.
        return all([_is_plain(inner, depth + 1) for inner in cast(Sequence[Any], value)])
    if _scalar_fault(value) is not None:
        raise _Refused
    # Whole numbers, and very small or large ones, are written otherwise by ECMAScript than by orjson.
    return not isinstance(value, float) or (
        _PLAIN_FLOAT_MIN <= abs(value) < _PLAIN_FLOAT_MAX and not value.is_integer()
    )


def _explain(value: object, path: str, depth: int) -> None:
    """Raise NotJson for the first place that the walk refuses, in order."""
    kind = type(value)
    if kind is dict or kind is list or kind is tuple:
        if depth >= DEPTH_MAX:
            raise NotJson(_short(path), f"is nested deeper than {DEPTH_MAX} levels")
        if kind is not dict:
            for index, inner in enumerate(cast(Sequence[Any], value)):
                _explain(inner, f"{path}[{index}]", depth + 1)
            return
        for key, inner in cast(dict[Any, Any], value).items():
            if type(key) is not str:
                raise NotJson(_short(path), f"has a key that is no string: {key!a:.80}")
            if reason := _scalar_fault(key):
                raise NotJson(_short(path), f"has a key that {reason}")
            _explain(inner, f"{path}.{key}" if path else key, depth + 1)
    elif reason := _scalar_fault(value):
        raise NotJson(_short(path), reason)


def _scalar_fault(value: object) -> str | None:
    kind = type(value)
    if kind is str:
        try:
            cast(str, value).encode()
        except UnicodeEncodeError:
            return "contains a lone surrogate, which is not valid Unicode text"
    elif kind is int:
        if not INT_MIN <= cast(int, value) <= INT_MAX:
            return "is an integer beyond 64 bits (-2^63 to 2^64-1); write it as a string"
    elif kind is float:
        if not isfinite(cast(float, value)):
            return "is NaN or infinite, which JSON does not have; write null or a string"
    elif kind is not bool and value is not None:
        return f"is a {kind.__name__}, which JSON does not have"
    return None


def _short(path: str) -> str:
    return path if len(path) <= 200 else f"{path[:100]}…{path[-99:]}"


def canonical_json(value: Any) -> bytes:
    """The canonical JSON of `value`, UTF-8. Raises NotJson where check_json does."""
    return canonical_of_checked(value, check_json(value))


def canonical_of_checked(value: Any, plain: bool) -> bytes:
    """The canonical JSON of a value that check_json let pass, with what it answered."""
    if plain:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return _canonical_text(value).encode("utf-8")


def _canonical_text(value: Any) -> str:
    if isinstance(value, float):
        return _es6_number(value)
    if isinstance(value, dict):
        items = cast(Mapping[str, Any], value)
        ordered = sorted(items, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join([f"{_string(key)}:{_canonical_text(items[key])}" for key in ordered]) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join([_canonical_text(inner) for inner in cast(Sequence[Any], value)]) + "]"
    return orjson.dumps(value).decode()


def _string(text: str) -> str:
    return orjson.dumps(text).decode()


def _es6_number(value: float) -> str:
    """ECMAScript's Number::toString, which RFC 8785 prescribes: same digits as repr, another layout."""
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits))
    point = len(text) + exponent  # position of the decimal point, counted from the first digit
    if len(text) <= point <= 21:
        body = text + "0" * (point - len(text))
    elif 0 < point <= 21:
        body = f"{text[:point]}.{text[point:]}"
    elif -6 < point <= 0:
        body = "0." + "0" * -point + text
    else:
        mantissa = text if len(text) == 1 else f"{text[0]}.{text[1:]}"
        body = f"{mantissa}e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return f"-{body}" if sign else body


def content_hash(value: Any) -> str:
    """SHA-256 of the canonical JSON, hex."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def content_id(prefix: str, value: Any) -> str:
    """A content-addressed id: `prefix_` and the first 32 hex digits of the SHA-256 of the canonical JSON."""
    return f"{prefix}_{hashlib.sha256(canonical_json(value)).hexdigest()[:ID_HEX_DIGITS]}"
