"""What was believed then: `known_at`, a position or a time of recording, beside `valid_at`."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tether_schemas.times import us_text
from typer.testing import CliRunner

from tether import Answer, BadRequest, Memory, Receipt, Store, ViewBehind
from tether.cli.app import app
from tether.compose import Home

APP, LIB, TOOL = (f"pkg:golang/example.com/{name}@v1.0.0" for name in ("app", "lib", "tool"))
ANA = "user:ana@example.com"
SECOND = 1_000_000
NAIVE = datetime(2026, 1, 1, tzinfo=UTC).replace(tzinfo=None)
START = 1_800_000_000 * SECOND


class World:
    """A store whose clock is set by hand, in seconds since its start."""

    def __init__(self, path: Path) -> None:
        self.now_s = 0
        self.home = Home.open(path, clock_us=lambda: START + self.now_s * SECOND)
        self.store = Store(self.home, "sdk")
        self.memory = self.store.memory("acme")

    def at(self, seconds: int) -> str:
        """A time as text."""
        return us_text(START + seconds * SECOND)

    def says(self, seconds: int, subject: str, predicate: str, value: Any, **fields: Any) -> int:
        """State something at a second; its position."""
        self.now_s = seconds
        fields.setdefault("source", "ci")
        return place_of(self.memory.remember(subject, predicate, value, **fields))


def place_of(receipt: Receipt) -> int:
    assert receipt.position is not None
    return int(receipt.position)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path / "data")
    yield made
    made.home.close()


def test_a_value_that_was_believed_then_is_current_in_the_answer(world: World) -> None:
    lib = world.says(1, LIB, "passes", True)
    then = world.says(2, APP, "passes", True, derived_from=[LIB])
    failed = world.says(3, LIB, "passes", False)
    recall = world.memory.recall
    assert recall(APP, "passes").status == "withdrawn"
    assert [recall(APP, "passes", known_at=place).status for place in (0, lib, then, failed)] == [
        "unknown", "unknown", "current", "withdrawn",
    ]  # fmt: skip
    assert recall(APP, "passes", known_at=str(then)) == recall(APP, "passes", known_at=then)
    assert recall(APP, "passes", known_at=then).position == str(then)


def test_a_time_of_recording_names_everything_recorded_up_to_then(world: World) -> None:
    world.says(10, ANA, "city", "Turin")
    place = world.says(20, ANA, "city", "Kyoto", time=world.at(5))
    world.says(30, ANA, "city", "Oslo")
    values = {
        second: world.memory.recall(ANA, "city", known_at=world.at(second)).value for second in (9, 10, 19, 29, 30)
    }
    # The event of 20 tells of an earlier time, so it does not follow what was observed at 10.
    assert values == {9: None, 10: "Turin", 19: "Turin", 29: "Turin", 30: "Oslo"}
    as_time = datetime.fromtimestamp(START / SECOND + 20, UTC)
    assert world.memory.recall(ANA, "city", known_at=as_time).position == str(place)


def test_what_was_fresh_then_is_current_whatever_has_expired_since(world: World) -> None:
    place = world.says(10, ANA, "city", "Turin", expires_at=world.at(15))
    later = world.says(20, ANA, "mood", "good")
    world.says(40, ANA, "mood", "better")
    recall = world.memory.recall
    assert recall(ANA, "city").status == "expired"
    assert recall(ANA, "city", known_at=place).status == "current"
    assert recall(ANA, "city", known_at=world.at(14)).status == "current"
    assert recall(ANA, "city", known_at=world.at(15)).status == "expired"
    assert recall(ANA, "city", known_at=later).status == "expired"
    assert recall(ANA, "city", known_at=later, valid_at=world.at(12)).status == "current"


def test_a_past_position_answers_the_same_whenever_it_is_asked(world: World) -> None:
    place = world.says(10, ANA, "city", "Turin", expires_at=world.at(15))
    first = world.memory.recall(ANA, "city", known_at=place)
    world.says(90, ANA, "city", "Kyoto")
    assert world.memory.recall(ANA, "city", known_at=place) == first


def test_valid_at_and_known_at_are_two_times(world: World) -> None:
    """What was thought, at 20 and at 30, of where Ana lived at 5 and at 25."""
    world.says(10, ANA, "city", "Turin", valid_from=world.at(0))
    world.says(
        30,
        ANA,
        "city",
        "Kyoto",
        valid_from=world.at(4),
        valid_to=world.at(8),
        issuer="register",
        authority="user-direct",
    )
    believed = {
        (known, valid): world.memory.recall(ANA, "city", known_at=world.at(known), valid_at=world.at(valid)).value
        for known in (20, 30)
        for valid in (5, 25)
    }
    assert believed == {(20, 5): "Turin", (20, 25): "Turin", (30, 5): "Kyoto", (30, 25): "Turin"}


def test_why_tells_what_was_known_then(world: World) -> None:
    world.says(1, LIB, "passes", False, source="audit")
    then = world.says(2, APP, "passes", True, derived_from=[LIB, TOOL])
    world.says(3, LIB, "passes", True, source="audit")
    world.says(4, TOOL, "passes", False, source="audit")
    details = [(cause.node, cause.detail) for cause in world.memory.why(APP, "passes", known_at=then).causes]
    assert details == [(LIB, "passes is false, says audit")]
    assert [cause.node for cause in world.memory.why(APP, "passes").causes] == [TOOL]


def test_history_ends_at_what_was_recorded_then(world: World) -> None:
    first = world.says(1, ANA, "city", "Turin")
    world.says(2, ANA, "city", "Kyoto")
    (then,) = world.memory.history(ANA, "city", known_at=first)
    assert (then.value, then.stance, then.position) == ("Turin", "standing", str(first))
    assert [one.stance for one in world.memory.history(ANA, "city")] == ["superseded", "standing"]


def test_history_at_a_time_of_validity_has_what_was_valid_then(world: World) -> None:
    world.says(1, ANA, "city", "Turin", valid_to=world.at(10))
    world.says(20, ANA, "city", "Kyoto")
    assert [one.value for one in world.memory.history(ANA, "city", valid_at=world.at(5))] == ["Turin"]
    assert [one.value for one in world.memory.history(ANA, "city", valid_at=world.at(25))] == ["Kyoto"]
    assert world.memory.why(ANA, "city", valid_at=world.at(5)).answer.value == "Turin"


def test_an_advisory_and_a_decision_that_came_later_are_not_known_yet(world: World) -> None:
    then = world.says(1, LIB, "passes", True)
    world.now_s = 2
    advised = place_of(
        world.store.advisory(
            {"id": "R-1", "reason": "leaked", "subject": LIB, "modified": world.at(2)}, format="revocation"
        )
    )
    world.now_s = 3
    decided = place_of(world.memory.invalidate("R-1", "a mistake"))
    world.now_s = 4
    world.memory.restore("R-1", "no mistake")
    statuses = [world.memory.recall(LIB, "passes", known_at=place).status for place in (then, advised, decided)]
    assert [*statuses, world.memory.recall(LIB, "passes").status] == ["current", "withdrawn", "current", "withdrawn"]


def test_i5_what_is_deleted_now_is_shown_in_no_past(world: World) -> None:
    """I-5"""
    said = world.says(1, ANA, "city", "Turin", id="said")
    after = world.says(2, ANA, "mood", "good")
    world.memory.forget({"evidence": {"source": "ci", "id": "said"}})
    for place in (said, after):
        answer = world.memory.recall(ANA, "city", known_at=place)
        assert (answer.status, answer.value) == ("tombstoned", None)
        assert [one.value for one in world.memory.history(ANA, "city", known_at=place)] == [None]
        assert "Turin" not in repr(world.memory.why(ANA, "city", known_at=place))


def test_i8_a_past_shows_a_reader_no_more_than_the_present(world: World) -> None:
    """I-8"""
    place = world.says(1, ANA, "salary", 10, readers=["boss"])
    world.says(2, ANA, "mood", "good")
    boss = world.store.memory("acme", principal="boss")
    assert boss.recall(ANA, "salary", known_at=place).value == 10
    hidden, never = (world.memory.recall(ANA, name, known_at=place) for name in ("salary", "nothing"))
    assert (hidden.status, hidden.value, hidden.evidence) == ("unknown", None, ())
    assert hidden.reason.replace("salary", "nothing") == never.reason
    assert world.memory.history(ANA, "salary", known_at=place) == []
    assert world.store.memory("beta").recall(ANA, "salary", known_at=place).status == "unknown"


@pytest.mark.parametrize(
    "known_at", [99, "99", -1, "9" * 30, True, 1.5, "yesterday", "2026-01-01T00:00:00", NAIVE, ("1",)]
)
def test_what_names_no_past_is_refused(world: World, known_at: Any) -> None:
    world.says(1, ANA, "city", "Turin")
    for read in (world.memory.recall, world.memory.why, world.memory.history):
        with pytest.raises(BadRequest) as caught:
            read(ANA, "city", known_at=known_at)
        assert caught.value.field == "known_at"


def test_a_position_beyond_the_end_is_refused_with_the_end(world: World) -> None:
    place = world.says(1, ANA, "city", "Turin")
    with pytest.raises(BadRequest, match=f"position {place + 1} is not recorded; the log ends at {place}"):
        world.memory.recall(ANA, "city", known_at=place + 1)


def test_a_time_to_come_is_the_present_and_one_before_everything_knows_nothing(world: World) -> None:
    world.says(10, ANA, "city", "Turin")
    assert world.memory.recall(ANA, "city", known_at=world.at(10_000)) == world.memory.recall(ANA, "city")
    nothing = world.memory.recall(ANA, "city", known_at=world.at(9))
    assert (nothing.status, nothing.position) == ("unknown", "0")
    assert nothing.reason == f"unknown: nothing is asserted of {ANA} city; nothing was ever appended to namespace acme"


def test_an_empty_store_has_no_past(world: World) -> None:
    assert world.memory.recall(ANA, "city", known_at=0).status == "unknown"
    with pytest.raises(BadRequest, match="the log ends at no event"):
        world.memory.recall(ANA, "city", known_at=1)


def test_min_position_waits_before_the_past_is_looked_for(world: World) -> None:
    place = world.says(1, ANA, "city", "Turin")
    answer = world.memory.recall(ANA, "city", known_at=place, min_position=str(place), timeout_s=0)
    assert answer.value == "Turin"
    with pytest.raises(ViewBehind):
        world.memory.recall(ANA, "city", known_at=place, min_position=str(place + 9), timeout_s=0)


def test_a_misspelt_option_is_refused(world: World) -> None:
    with pytest.raises(BadRequest, match="there are min_position, timeout_s"):
        world.memory.recall(ANA, "city", timeout=3)  # pyright: ignore[reportCallIssue]  # that is the point


def test_the_command_line_reads_a_past(tmp_path: Path) -> None:
    place = ["--data", str(tmp_path / "data"), "--namespace", "acme"]
    with Memory.open(tmp_path / "data", "acme") as memory:
        then = memory.remember(ANA, "city", "Turin").position
        memory.remember(ANA, "city", "Kyoto")
        want: Answer = memory.recall(ANA, "city", known_at=then)
    for name in ("recall", "why", "history"):
        result = CliRunner().invoke(app, [name, ANA, "city", "--known-at", str(then), "--json", *place])
        assert result.exit_code == 0, result.output
        assert "Kyoto" not in result.stdout
    said = json.loads(
        CliRunner().invoke(app, ["recall", ANA, "city", "--known-at", str(then), "--json", *place]).stdout
    )
    assert (said["value"], said["position"]) == (want.value, then)
