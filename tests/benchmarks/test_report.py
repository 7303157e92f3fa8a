"""What a line says of its target and of the limit beside it."""

import pytest

from benchmarks.report import Line, with_ratios


@pytest.mark.parametrize(
    ("line", "met"),
    [
        (Line("ingest", 20_000, "events/s", 20_000, "at least"), True),
        (Line("ingest", 19_999, "events/s", 20_000, "at least"), False),
        (Line("point read", 1.0, "ms", 1.0), True),
        (Line("point read", 1.1, "ms", 1.0), False),
        (Line("memory", 1.1, "GiB"), None),
    ],
)
def test_a_target_is_a_least_or_a_most(line: Line, met: bool | None) -> None:
    assert line.met is met


def test_a_line_is_set_beside_its_limit_where_the_run_has_measured_it() -> None:
    lines = [Line("bare", 200, "events/s"), Line("a", 20, "events/s", limit="bare"), Line("b", 1, "ms", limit="other")]
    assert [line.ratio for line in with_ratios(lines)] == [None, 0.1, None]
