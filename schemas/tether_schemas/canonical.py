"""Canonical JSON and content-addressed ids.

Canonical JSON is RFC 8785 (JCS), except that integers are written in full from -2^63 to 2^64-1 (design, part 3). It is
for comparing and for ids only; values are stored as they came.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from math import isfinite
from typing import Any, NamedTuple, cast

import orjson

INT_MIN = -(2**63)
INT_MAX = 2**64 - 1
DEPTH_MAX = 64
ID_HEX_DIGITS = 32

# Within these bounds a float that is no whole number is written alike by ECMAScript and by orjson: plain digits.
_PLAIN_FLOAT_MIN = 1e-4
_PLAIN_FLOAT_MAX = 1e15
_EXACT_FLOAT_MAX = 2**53
_BMP_LAST = "\uffff"
_NOT_PLAIN = 1 << 48  # above any number of names that fits in memory


# The same as `type`, whose answer for a value of any type is typed in part only.
_type_of: Callable[[object], type[object]] = type


class NotJson(ValueError):
    """A value has no canonical JSON form; `path` is dotted, `reason` says why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.path = path
        self.reason = reason


class _Refused(Exception):
    """Something cannot be kept exactly; where and why is looked for only then."""


class Survey(NamedTuple):
    """What a walk over a JSON value found: is orjson's sorted form already canonical, and how many names has it."""

    plain: bool
    names: int


def check_json(value: Any, path: str = "") -> Survey:
    """Check that `value` can be kept exactly, and look it over. Raises NotJson, whose path begins with `path`.

    Refused are NaN and infinity, an integer beyond 64 bits, a lone surrogate, a key that is no string, nesting deeper
    than DEPTH_MAX, and types that JSON does not have.
    """
    try:
        found = _walk(value, 0)
    except (_Refused, UnicodeEncodeError):
        _explain(value, path, 0)
        raise AssertionError("refused without a reason") from None
    return Survey(found < _NOT_PLAIN, found % _NOT_PLAIN)


def is_plain(value: Any) -> bool:
    """What check_json says of a value that it let pass before."""
    kind = _type_of(value)
    if kind is float:
        return _is_written_alike(value)
    return kind is bool or kind is str or _walk(value, 0) < _NOT_PLAIN


def is_plain_inside(value: Any, depth: int) -> bool:
    """What check_json says of a value that stands `depth` levels down, all of whose texts have a UTF-8 form.

    Raises NotJson, without saying where.
    """
    kind = _type_of(value)
    if kind is bool or kind is str:
        return True
    try:
        return _walk(value, depth) < _NOT_PLAIN
    except _Refused:
        raise NotJson("", "cannot be kept exactly") from None


def _walk(value: Any, depth: int) -> int:  # noqa: C901  # the hottest walk: one call per container, no more
    """The number of names in `value`, plus _NOT_PLAIN for each thing that orjson does not write canonically."""
    kind = _type_of(value)
    found = 0
    if kind is dict:
        found = len(value)
        for key in value:
            if type(key) is not str:
                raise _Refused
            if not key.isascii():
                key.encode()
                # JCS sorts keys by UTF-16 code units, orjson by code points: they differ beyond the BMP only.
                if max(key) > _BMP_LAST:
                    found += _NOT_PLAIN
        inside = value.values()
    elif kind is list or kind is tuple:
        inside = value
    else:
        return 0 if kind is float and _is_written_alike(value) else _scalar(value)
    if depth >= DEPTH_MAX:
        raise _Refused
    for inner in inside:
        kind = _type_of(inner)
        if kind is str:
            if not inner.isascii():
                inner.encode()
        elif kind is not bool and inner is not None:
            found += _walk(inner, depth + 1)
    return found


def _is_written_alike(value: float) -> bool:
    """Whether orjson writes this number as ECMAScript does; it does not for whole, very small and very large ones."""
    return _PLAIN_FLOAT_MIN <= abs(value) < _PLAIN_FLOAT_MAX and not value.is_integer()


def _scalar(value: object) -> int:
    if _scalar_fault(value) is not None:
        raise _Refused
    return _NOT_PLAIN if isinstance(value, float) and not _is_written_alike(value) else 0


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
    return canonical_of_checked(value, check_json(value).plain)


def canonical_of_checked(value: Any, plain: bool) -> bytes:
    """The canonical JSON of a value that check_json let pass, with what it answered."""
    if not plain:
        value = _with_whole_numbers(value)
        if not check_json(value).plain:
            return _canonical_text(value).encode("utf-8")
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _with_whole_numbers(value: Any) -> Any:
    """`value` with floats that are whole numbers, the most frequent reason not to be plain, as integers."""
    kind = _type_of(value)
    if kind is float:
        return int(value) if value.is_integer() and abs(value) <= _EXACT_FLOAT_MAX else value
    if kind is dict:
        return {key: _with_whole_numbers(inner) for key, inner in value.items()}
    if kind is list or kind is tuple:
        return [_with_whole_numbers(inner) for inner in value]
    return value


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


def content_id(prefix: str, value: Any, plain: bool | None = None) -> str:
    """A content-addressed id: `prefix_` and the first 32 hex digits of the SHA-256 of the canonical JSON.

    `plain` is what check_json said, where the value was checked before.
    """
    written = canonical_json(value) if plain is None else canonical_of_checked(value, plain)
    return f"{prefix}_{hashlib.sha256(written).hexdigest()[:ID_HEX_DIGITS]}"
