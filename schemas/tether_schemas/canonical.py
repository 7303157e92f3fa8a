"""Canonical JSON and content-addressed ids.

Canonical JSON is RFC 8785 (JCS), except that integers are written in full from -2^63 to 2^64-1 (design, part 3). It is
for comparing and for ids only; values are stored as they came.
"""

import hashlib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import orjson

INT_MIN = -(2**63)
INT_MAX = 2**64 - 1
DEPTH_MAX = 64
ID_HEX_DIGITS = 32


class NotJson(ValueError):
    """A value has no canonical JSON form; `path` is dotted, `reason` says why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.path = path
        self.reason = reason


def _text_is_ordinary(text: str, path: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise NotJson(path, "contains a lone surrogate, which is not valid Unicode text") from None
    # JCS sorts keys by UTF-16 code units, orjson by code points: they differ beyond the BMP only.
    return False


def check_json(value: Any, path: str = "", depth: int = 0) -> bool:
    """Check that `value` can be kept exactly; return whether orjson's sorted form is already canonical.

    Raises NotJson naming the place: NaN or infinity, an integer beyond 64 bits, a lone surrogate, a key that is no
    string, nesting deeper than DEPTH_MAX, or a type that JSON does not have.
    """
    kind = type(value)
    if kind is str:
        return _text_is_ordinary(value, path)
    if value is None or kind is bool:
        return True
    if kind is int:
        if not INT_MIN <= value <= INT_MAX:
            raise NotJson(path, "is an integer beyond 64 bits (-2^63 to 2^64-1); write it as a string")
        return True
    if kind is float:
        if value != value or value in (float("inf"), float("-inf")):
            raise NotJson(path, "is NaN or infinite, which JSON does not have; write null or a string")
        return False
    if depth >= DEPTH_MAX:
        raise NotJson(path, f"is nested deeper than {DEPTH_MAX} levels")
    return _check_container(value, path, depth)


def _check_container(value: Any, path: str, depth: int) -> bool:
    plain = True
    if isinstance(value, dict):
        items: dict[Any, Any] = value
        for key, inner in items.items():
            if type(key) is not str:
                raise NotJson(path, f"has a key that is no string: {key!r}")
            if not _text_is_ordinary(key, path):
                plain = False
            if not check_json(inner, f"{path}.{key}" if path else key, depth + 1):
                plain = False
        return plain
    if isinstance(value, list | tuple):
        elements: Sequence[Any] = value
        for index, inner in enumerate(elements):
            if not check_json(inner, f"{path}[{index}]", depth + 1):
                plain = False
        return plain
    raise NotJson(path, f"is a {type(value).__name__}, which JSON does not have")


def canonical_json(value: Any) -> bytes:
    """The canonical JSON of `value`, UTF-8. Raises NotJson where check_json does."""
    if check_json(value):
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return _canonical_text(value).encode("utf-8")


def _canonical_text(value: Any) -> str:
    if isinstance(value, float):
        return _es6_number(value)
    if isinstance(value, dict):
        items: Mapping[str, Any] = value
        ordered = sorted(items, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(f"{_string(key)}:{_canonical_text(items[key])}" for key in ordered) + "}"
    if isinstance(value, list | tuple):
        elements: Sequence[Any] = value
        return "[" + ",".join(_canonical_text(inner) for inner in elements) + "]"
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
