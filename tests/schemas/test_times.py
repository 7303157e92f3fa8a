"""Times: RFC 3339 with an offset, to the microsecond; nothing else."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tether_schemas.times import BadTime, time_text, time_us, us_text

OFFSETS = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda minutes: timezone(timedelta(minutes=minutes)))
NAIVE = datetime(2026, 1, 31)  # noqa: DTZ001  # what must be refused, and how hypothesis takes its bounds
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@given(st.datetimes(NAIVE.replace(year=2), NAIVE.replace(year=9998), timezones=OFFSETS))
def test_any_moment_is_read_as_it_was_written(moment: datetime) -> None:
    assert time_us(time_text(moment)) == (moment - EPOCH) // timedelta(microseconds=1)


@given(st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999))
def test_microseconds_round_trip(us: int) -> None:
    assert time_us(us_text(us)) == us


@pytest.mark.parametrize(
    ("text", "us"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01t01:00:00+01:00", 0),
        ("1969-12-31 23:30:00.25-00:30", 250_000),
        ("1970-01-01T00:00:00.000001999z", 1),
        ("1970-01-01T00:00:60Z", 59_000_000),
        ("0001-01-01T00:00:00Z", -62_135_596_800_000_000),
    ],
)
def test_what_rfc_3339_allows_is_read(text: str, us: int) -> None:
    assert time_us(text) == us


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("2026-01-31T12:00:00", "has no offset"),
        ("2026-01-31 12:00:00.5", "has no offset"),
        ("2026-01-31", "no RFC 3339 time"),
        ("2026-01-31T12:00Z", "no RFC 3339 time"),
        ("2026-02-30T12:00:00Z", "no time that exists"),
        ("2026-01-31T24:00:00Z", "no time that exists"),
        ("2026-01-31T12:00:61Z", "no time that exists"),
        ("2026-01-31T12:00:00+24:00", "no time that exists"),
        ("0000-01-01T00:00:00Z", "no time that exists"),
        ("0001-01-01T00:00:00+00:01", "outside the years"),
        ("9999-12-31T23:59:59-00:01", "outside the years"),
        ("２026-01-31T12:00:00Z", "no RFC 3339 time"),
        ("2026-01-31T12:00:00Z\n", "no RFC 3339 time"),
        ("1769860800", "no RFC 3339 time"),
        ("", "no RFC 3339 time"),
    ],
)
def test_all_else_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(BadTime, match=reason):
        time_us(text)


@pytest.mark.parametrize("moment", [NAIVE, datetime(1890, 1, 1, tzinfo=timezone(timedelta(minutes=53, seconds=28)))])
def test_a_datetime_that_rfc_3339_cannot_write_is_refused(moment: datetime) -> None:
    with pytest.raises(BadTime):
        time_text(moment)
