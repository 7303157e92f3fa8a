"""Times: RFC 3339 text on the wire, microseconds since the epoch (UTC) for comparing."""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

CACHE_ENTRIES_MAX = 8_192

_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,12}))?(?:([Zz])|([+-])(\d\d):(\d\d))", re.ASCII
)
# What most clocks write, and Python reads alike in one call: no leap second, no offset, no digits that it would round.
_ORDINARY = re.compile(
    r"\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.(?:\d{3}|\d{6}))?(?:Z|\+00:00)", re.ASCII
)
_SECONDS_PER_DAY = 86_400
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_US_MIN = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_US_MAX = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND


class BadTime(ValueError):
    """The text is no RFC 3339 time with an offset."""


@lru_cache(maxsize=CACHE_ENTRIES_MAX)
def time_us(text: str) -> int:
    """Microseconds since 1970-01-01T00:00:00Z of an RFC 3339 time; finer digits are cut off. Raises BadTime.

    A leap second counts as the second before, since Python's datetime has none.
    """
    return new_time_us(text)


def new_time_us(text: str) -> int:
    """time_us of a time that hardly comes again, which is not kept."""
    if _ORDINARY.fullmatch(text):
        try:
            since = datetime.fromisoformat(text) - _EPOCH
        except ValueError:
            raise BadTime(f"{text!r} is no time that exists") from None
        return (since.days * _SECONDS_PER_DAY + since.seconds) * 1_000_000 + since.microseconds
    match = _RFC3339.fullmatch(text)
    if match is None:
        if re.fullmatch(r"\d{4}-\d\d-\d\d[Tt ][\d:.]+", text, re.ASCII):
            raise BadTime(f"{text[:80]!r} has no offset; write Z or +hh:mm")
        raise BadTime(f"{text[:80]!r} is no RFC 3339 time such as 2026-01-31T12:00:00Z")
    year, month, day, hour, minute, second, fraction, _, sign, offset_hour, offset_minute = match.groups()
    try:
        moment = datetime(int(year), int(month), int(day), int(hour), int(minute), min(int(second), 59), tzinfo=UTC)
        if int(second) > 60 or (sign and (int(offset_hour) > 23 or int(offset_minute) > 59)):
            raise ValueError
    except ValueError:
        raise BadTime(f"{text!r} is no time that exists") from None
    whole = (moment - _EPOCH) // _MICROSECOND
    if fraction:
        whole += int((fraction + "000000")[:6])
    if sign:
        shift = (int(offset_hour) * 60 + int(offset_minute)) * 60_000_000
        whole += shift if sign == "-" else -shift
        if not _US_MIN <= whole <= _US_MAX:
            raise BadTime(f"{text!r} lies outside the years 1 to 9999 of UTC")
    return whole


def time_text(moment: datetime) -> str:
    """RFC 3339 text of an aware datetime, its offset kept. Raises BadTime when it has none, or one with odd seconds."""
    offset = moment.utcoffset()
    if offset is None:
        raise BadTime("a datetime without a time zone; use datetime.now(UTC)")
    if offset % timedelta(minutes=1):
        raise BadTime(f"the offset {offset} is no whole number of minutes, which RFC 3339 cannot write; convert to UTC")
    return moment.isoformat().replace("+00:00", "Z")


def us_text(us: int) -> str:
    """RFC 3339 text in UTC of microseconds since the epoch (years 1 to 9999)."""
    return time_text(_EPOCH + us * _MICROSECOND)
