"""Verify finds every row that no replay makes, in every table, and nothing in a view that follows from the facts."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from tether_projections.compare import LEFT_OUT, Comparison, TableFound
from tether_projections.engine import Engine
from tether_projections.store import ViewStore
from tether_replay import verify as verify_module
from tether_replay.build import Builder
from tether_replay.verify import Live, unfounded, verify
from tether_replay.views import Progress
from tether_schemas.errors import BuildUnsound, LogCorrupt
from tether_schemas.facts import FactRecord
from tether_schemas.reports import TableDifference, Verified
from tether_streams.embedded.extraction import FACT_TOPICS, history, new_record

from tests.histories import histories
from tests.projections.driven import cut
from tests.records import OTHER, PUBLIC, At, claim, decided, deleted, linked, osv, passes, policy, said, says
from tests.replay.logs import whole_log

EVERYTHING = [
    policy(At("p", 1), predicates={"tags": {"many": True}}, schemes={"doc": {"higher_version": True}}),
    said(At("e1", 2, "ci"), claim("item:a@1", "passes", True, issuer="ci#a"), claim("user:u", "tags", "x")),
    said(At("e2", 3, "ci"), claim("item:b@1", "passes", True, premises=["item:a@1"])),
    passes(At("e3", 4, "hub"), "item:a@1", False),
    said(At("e4", 5, "bot"), claim("user:u", "note", "red", issuer="bot#a", possible=["item:a@1"])),
    said(
        At("e5", 6, "bot"),
        claim("user:w", "note", "blue", issuer="bot#a", premises=["item:c@1"]),
        claim("user:w", "note", "blue", issuer="bot#b", premises=["item:d@1"]),
    ),
    linked(At("l1", 7, "ci"), "item:e@1", ["item:b@1"]),
    said(At("e6", 8, "bot"), claim("user:v", "note", "old", issuer="bot#a")),
    said(At("e7", 9, "bot"), claim("user:v", "note", "new", issuer="bot#a")),
    said(At("e8", 10, "bot"), claim("user:x", "note", "gone", issuer="bot#a")),
    deleted(At("d1", 11), {"evidence": {"source": "bot", "id": "e8"}}),
    said(At("e9", 12, "bot"), claim("user:y", "note", "wrong", issuer="bot#a")),
    decided(At("c1", 13), "invalidate", {"evidence": {"source": "bot", "id": "e9"}}),
    osv(At("a1", 14, "osv", PUBLIC), "ADV-1", "x", {"introduced": "0"}, {"fixed": "1.5"}),
    said(At("e10", 15, "ci"), claim("pkg:pypi/x@odd!", "passes", True), claim("pkg:pypi/x@1.0", "passes", True)),
    said(At("f1", 16, "ci", OTHER), claim("item:a@1", "passes", True)),
]


class Verifying:
    """A live view of a log, kept to be damaged, and what it is compared with."""

    def __init__(self, records: Sequence[FactRecord], folder: Path, random: Random) -> None:
        self.log, self.facts = whole_log(records)
        self.store = ViewStore(":memory:")
        self.engine = Engine(self.store, history(self.log))
        offsets = {one.offset: offset for one, offset in self.facts}
        for batch in cut([one for one, _ in self.facts], random):
            self.engine.apply(batch, offsets[batch[-1].offset])
        self.live = Live("1", self.engine, FACT_TOPICS, folder)

    def damage(self, *statements: str) -> None:
        """Run SQL on the live view's file, as no replay would."""
        with self.store.transaction():
            for sql in statements:
                self.store.execute(sql)
        self.store.commit()

    def verified(self) -> Verified:
        return verify(self.log, self.live)

    def found(self) -> dict[str, TableDifference]:
        return {one.table: one for one in self.verified().tables}


@pytest.fixture
def verifying(tmp_path: Path) -> Iterator[Verifying]:
    one = Verifying(EVERYTHING, tmp_path, Random(1))
    yield one
    one.store.close()
    assert list(tmp_path.iterdir()) == []  # whatever happened, nothing is left behind


def faults(seed: int, size: int, folder: Path) -> list[TableDifference]:
    """What verify finds of a view that followed a random history."""
    one = Verifying(histories(seed, size), folder, Random(seed))
    try:
        found = one.verified()
        assert found.equal or found.tables or [pair for pair in found.digests if pair.live != pair.rebuilt]
        return list(found.tables)
    finally:
        one.store.close()


@pytest.mark.parametrize("seed", range(20))
def test_i2_nothing_differs_of_a_view_that_followed_its_log(seed: int, tmp_path: Path) -> None:
    assert faults(seed, 12 + seed % 40, tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_i2_nothing_differs_of_many_more(block: int, tmp_path: Path) -> None:
    for seed in range(10_000 + block * 20, 10_020 + block * 20):
        assert faults(seed, 12 + seed % 40, tmp_path) == [], seed


def at_least_once(records: Sequence[FactRecord], random: Random) -> list[FactRecord]:
    """Records of two partitions, of `*` and of namespaces: each in its order, mixed otherwise, some of them twice."""
    parts = [[one for one in records if (one.namespace == PUBLIC) == public] for public in (False, True)]
    found: list[FactRecord] = []
    while parts := [part for part in parts if part]:
        found.append(random.choice(parts).pop(0))
        if random.random() < 0.1:
            found.append(random.choice(found))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_i2_nothing_differs_of_a_view_that_took_partitions_mixed_and_some_twice(seed: int, tmp_path: Path) -> None:
    one = Verifying(histories(seed, 30), tmp_path, Random(seed))
    records = at_least_once([record for record, _ in one.facts], Random(seed))
    with closing(ViewStore(":memory:")) as store:
        engine = Engine(store, history(one.log))
        for batch in cut(records, Random(seed)):
            engine.apply(batch, one.engine.position())
        assert verify(one.log, replace(one.live, engine=engine)).tables == ()
    one.store.close()


class Built:
    """The view of EVERYTHING, and the file of the same built at once, to compare again and again."""

    def __init__(self, folder: Path) -> None:
        self.one = Verifying(EVERYTHING, folder, Random(1))
        self.file = folder / "built.duckdb"
        with closing(ViewStore(str(self.file))) as store:
            Builder(self.one.log, store).advance(self.one.engine.position())

    @contextmanager
    def undone(self, table: str) -> Generator[None]:
        """Whatever happens to a table inside is undone afterwards."""
        store = self.one.store
        rows = store.rows(f"SELECT * FROM {table} ORDER BY rowid")
        yield
        with store.transaction():
            store.execute(f"DELETE FROM {table}")
            store.append(table, rows)
        store.commit()

    def differs(self, table: str) -> TableFound:
        with Comparison(self.one.store, str(self.file)) as comparison:
            return comparison.table(table)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    one = Built(tmp_path_factory.mktemp("built"))
    yield one
    one.one.store.close()


def compared() -> list[str]:
    """The tables that verify compares: all that are there, so a new one is among them."""
    with closing(ViewStore(":memory:")) as store:
        return [table for table in store.tables() if table not in LEFT_OUT]


TABLES = compared()
EMPTY = ["contested"]  # an embedded log takes one content for an event id


def test_every_table_of_the_view_is_compared_and_has_rows_here(built: Built) -> None:
    store = built.one.store
    assert set(store.tables()) - set(TABLES) == {"applied", "change", "slot_past"}
    assert [table for table in TABLES if not store.rows(f"SELECT 1 FROM {table}")] == EMPTY
    found = [built.differs(table) for table in TABLES]
    assert [one for one in found if one.only_live or one.only_rebuilt] == []


OTHER_VALUE = {"VARCHAR": "coalesce({0}, '') || 'x'", "BOOLEAN": "NOT {0}"}


@pytest.mark.parametrize("table", [name for name in TABLES if name not in EMPTY])
def test_an_altered_row_is_found_whichever_column_it_is(built: Built, table: str) -> None:
    store = built.one.store
    unseen: list[str] = []
    for name, kind in store.columns(table):
        other = OTHER_VALUE.get(kind, "coalesce({0}, 0) + 1").format(name)
        with built.undone(table):
            built.one.damage(f"UPDATE {table} SET {name} = {other} WHERE rowid = (SELECT min(rowid) FROM {table})")
            found = built.differs(table)
        if not found.only_live or not found.only_rebuilt:
            unseen.append(name)
    assert unseen == []


def alien(store: ViewStore, table: str) -> str:
    """A statement that plants a row of which nothing in the log tells."""
    values = {"INTEGER": "77777", "BIGINT": "77777", "TINYINT": "7", "BOOLEAN": "true", "DOUBLE": "0.5"}
    row = ", ".join(values.get(kind, "'alien'") for _, kind in store.columns(table))
    return f"INSERT INTO {table} VALUES ({row})"


@pytest.mark.parametrize("table", TABLES)
def test_an_alien_row_is_found_in_its_table_and_no_event_makes_it(verifying: Verifying, table: str) -> None:
    verifying.damage(alien(verifying.store, table))
    found = verifying.verified()
    one = next(one for one in found.tables if one.table == table)
    assert not found.equal
    assert (one.only_live, one.only_rebuilt, one.first_rebuilt) == (1, 0, None)
    assert one.first_live is not None
    assert (one.first_live.events, one.first_live.events_count) == ((), 0)


@pytest.mark.parametrize("table", [name for name in TABLES if name not in EMPTY])
def test_a_row_that_stands_twice_is_found(built: Built, table: str) -> None:
    with built.undone(table):
        built.one.damage(f"INSERT INTO {table} SELECT * FROM {table} ORDER BY rowid LIMIT 1")
        assert built.differs(table).only_live == 1


@pytest.mark.parametrize("table", [name for name in TABLES if name not in EMPTY])
def test_a_row_that_is_missing_is_found(built: Built, table: str) -> None:
    for place in ("min", "max"):
        with built.undone(table):
            built.one.damage(f"DELETE FROM {table} WHERE rowid = (SELECT {place}(rowid) FROM {table})")
            assert built.differs(table).only_rebuilt, place


def test_a_view_that_follows_from_the_facts_is_equal_in_digests_and_tables(verifying: Verifying) -> None:
    found = verifying.verified()
    assert (found.equal, found.tables, found.unfounded) == (True, (), None)
    assert [(pair.namespace, pair.live == pair.rebuilt) for pair in found.digests] == [
        ("*", True), ("acme", True), ("beta", True)
    ]  # fmt: skip
    assert (found.records, found.tables_count) == (len(EVERYTHING), len(TABLES))
    assert found.position == str(verifying.facts[-1][0].offset)


def test_an_altered_value_is_named_with_the_events_behind_it(verifying: Verifying) -> None:
    verifying.damage("UPDATE memory SET value = '\"green\"' WHERE subject = 'user:u' AND predicate = 'note'")
    found = verifying.found()
    assert list(found) == ["memory"]
    live, rebuilt = found["memory"].first_live, found["memory"].first_rebuilt
    assert live is not None and rebuilt is not None
    assert (live.columns["value"], rebuilt.columns["value"]) == ('"green"', '"red"')
    assert live.columns["slot"] == "slot acme  user:u note"
    assert [(one.namespace, one.source, one.id) for one in live.events] == [("acme", "bot", "e4")]
    assert live.events[0].position == str(verifying.facts[4][0].offset)


def test_i3_a_passing_assertion_served_though_it_failed_is_found(verifying: Verifying) -> None:
    query = "SELECT node FROM node WHERE text = 'item:b@1'"
    verifying.damage(f"DELETE FROM down WHERE node IN ({query})")
    found = verifying.found()
    assert set(found) == {"down", "memory"}  # memory: what supports it is no longer down
    row = found["down"].first_rebuilt
    assert row is not None
    assert row.columns == {"node": "object acme item:b@1"}
    assert [one.id for one in row.events] == ["e2", "l1"]


def test_i8_an_assertion_of_another_namespace_is_found(verifying: Verifying) -> None:
    slot = "SELECT slot FROM memory WHERE namespace = 'beta'"
    verifying.damage(f"UPDATE assertion SET slot = ({slot}) WHERE id = 'e4'")
    found = verifying.verified()
    assert "assertion" in [one.table for one in found.tables]
    assert [pair.namespace for pair in found.digests if pair.live != pair.rebuilt] != []


def test_a_namespace_of_which_the_log_knows_nothing_has_a_digest_live_alone(verifying: Verifying) -> None:
    copied = "ev + 70000 AS ev, 'gamma' AS namespace"
    verifying.damage(f"INSERT INTO evidence SELECT * REPLACE ({copied}) FROM evidence WHERE id = 'f1'")
    pair = next(one for one in verifying.verified().digests if one.namespace == "gamma")
    assert pair.live != pair.rebuilt


def test_i5_a_value_that_is_erased_is_not_shown_though_the_live_view_has_it(verifying: Verifying) -> None:
    verifying.damage("UPDATE assertion SET value = '\"gone\"' WHERE id = 'e8'")
    row = verifying.found()["assertion"].first_live
    assert row is not None
    assert "gone" not in str(row)
    assert row.columns["value"] == "(not shown: erased, or not for everyone)"


def test_i8_a_value_that_not_everyone_may_see_is_not_shown(tmp_path: Path) -> None:
    records = [says(At("e1", 1), "user:u", "note", "secret", readers=("ana",))]
    one = Verifying(records, tmp_path, Random(1))
    one.damage("UPDATE memory SET value = '\"secret too\"'")
    assert "secret" not in str(one.found()["memory"])
    one.store.close()


def test_a_rebuild_has_none_of_it(verifying: Verifying) -> None:
    verifying.damage(*(alien(verifying.store, table) for table in TABLES))
    assert len(verifying.found()) == len(TABLES)
    with closing(ViewStore(":memory:")) as store:
        builder = Builder(verifying.log, store)
        builder.advance(verifying.engine.position())
        assert verify(verifying.log, replace(verifying.live, engine=builder.engine)).equal


def test_facts_of_no_event_are_named(verifying: Verifying) -> None:
    forged = passes(At("forged", 99), "item:z@1")
    [appended] = verifying.log.append([new_record(forged)])
    verifying.engine.apply([forged], appended.offset)
    found = verifying.verified()
    assert (found.equal, found.tables) == (False, ())
    assert found.unfounded is not None
    assert "'forged' of source 'ci' in namespace 'acme'" in found.unfounded


def test_facts_that_are_not_of_that_event_are_named(verifying: Verifying) -> None:
    first = verifying.facts[1][0]
    forged = passes(At("forged", 99), "item:z@1").model_copy(update={"offset": first.offset})
    [appended] = verifying.log.append([new_record(forged)])
    told = unfounded(verifying.log, FACT_TOPICS, appended.offset)
    assert told is not None and f"position {first.offset} of raw.tool-results" in told


@pytest.mark.parametrize("size", [1, 2, 7, 100])
def test_facts_are_looked_up_over_any_number_of_pages(
    verifying: Verifying, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify_module, "READ_RECORDS_MAX", size)
    assert unfounded(verifying.log, FACT_TOPICS, verifying.engine.position()) is None


def test_facts_that_do_not_decode_are_an_error_that_names_their_place(verifying: Verifying) -> None:
    bad = new_record(passes(At("bad", 99), "item:z@1"))._replace(payload=b"{")
    [appended] = verifying.log.append([bad])
    verifying.engine.apply([], appended.offset)
    with pytest.raises(LogCorrupt, match=f"position {appended.offset}"):
        verifying.verified()


def test_what_was_built_is_checked_against_the_log_too(verifying: Verifying, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify_module, "unsound", _unsound)
    with pytest.raises(BuildUnsound, match="it is not so"):
        verifying.verified()


def _unsound(*_: object) -> str:
    return "it is not so"


class Stop(BaseException):
    """Raised in the middle, as Ctrl-C is."""


@pytest.mark.parametrize("stage", ["log", "build", "check", "compare"])
def test_each_stage_is_watched_and_what_stops_there_leaves_nothing(verifying: Verifying, stage: str) -> None:
    def watch(step: Progress) -> None:
        if step.stage == stage:
            raise Stop

    with pytest.raises(Stop):
        verify(verifying.log, verifying.live, watch)
    assert verifying.verified().equal


def test_what_a_killed_run_left_is_removed(verifying: Verifying, tmp_path: Path) -> None:
    left = tmp_path / "verifying-abc"
    left.mkdir()
    (left / "views.duckdb").write_bytes(b"x")
    verifying.verified()
    assert not left.exists()
