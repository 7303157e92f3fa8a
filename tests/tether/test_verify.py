"""`tether replay verify` and `tether replay diff` from a user's side, over a real data directory."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.tether.processes import OWNER, child
from tether import BadNamespace, BadRequest, DataDirectory, Memory, Store, Verified, ViewLocked
from tether.cli.app import app

NS = "acme"
Run = Callable[..., Result]


@pytest.fixture
def run(data: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TETHER_DATA", str(data))
    monkeypatch.delenv("TETHER_NAMESPACE", raising=False)
    return lambda *arguments: CliRunner().invoke(app, ["replay", *map(str, arguments)])


def fill(store: Store) -> Memory:
    """A chain of three verdicts whose root has failed, and what Ana said, twice."""
    memory = store.memory(NS)
    for number in range(3):
        premises = [f"item:part{number - 1}@1"] if number else []
        memory.remember(f"item:part{number}@1", "passes", True, source="ci", id=f"b{number}", derived_from=premises)
    memory.remember("user:ana", "city", "Lisbon", source="chat", id="n1")
    memory.remember("item:part0@1", "passes", False, source="ci", id="f1")
    store.status()
    return memory


def damage(store: Store, sql: str) -> None:
    """Run SQL on the live view's file, as no replay would."""
    store.status()
    with store._home.reading() as view:  # pyright: ignore[reportPrivateUsage]  # a fault is planted on purpose
        with view.store.transaction():
            view.store.execute(sql)
        view.store.commit()


def filled(data: Path, sql: str | None = None) -> None:
    with Store.open(data) as store:
        fill(store)
        store.status()
        if sql is not None:
            damage(store, sql)


ROME = "UPDATE memory SET value = '\"Rome\"' WHERE predicate = 'city'"


def test_a_live_view_is_equal_and_the_exit_code_is_0(run: Run, data: Path) -> None:
    filled(data)
    result = run("verify", "--json")
    found = json.loads(result.stdout)
    assert (result.exit_code, found["equal"], found["tables"], found["records"]) == (0, True, [], 5)
    assert "every fact is of an event" in run("verify").stdout


def test_a_row_that_no_replay_makes_is_told_with_its_events_and_the_exit_code_is_1(run: Run, data: Path) -> None:
    filled(data, ROME)
    result = run("verify")
    assert result.exit_code == 1
    assert "memory: 1 row only live, 1 only rebuilt" in result.stdout
    assert '"Rome"' in result.stdout and '"Lisbon"' in result.stdout
    assert "acme chat n1 at " in result.stdout


def test_a_row_that_is_of_no_event_says_so(run: Run, data: Path) -> None:
    filled(data, "INSERT INTO unresolved VALUES (7777, 7777, 'alien')")
    assert "none: no event of the log makes it" in " ".join(run("verify").stdout.split())


def verified(store: Store, sql: str) -> Verified:
    fill(store)
    damage(store, sql)
    return store.verify()


def test_i3_a_failure_that_is_missing_is_found_and_a_rebuild_removes_it(store: Store) -> None:
    found = verified(store, "DELETE FROM down")
    assert "down" in [one.table for one in found.tables]
    store.rebuild()
    assert store.verify().equal
    assert store.memory(NS).recall("item:part2@1", "passes").status == "withdrawn"


def test_a_generation_of_another_extraction_is_verified_against_its_own_facts(store: Store) -> None:
    fill(store)
    store.rebuild(from_raw=True)
    assert store.verify().equal
    assert store.verify().generation == "2"


def test_verify_leaves_nothing_behind(store: Store, data: Path) -> None:
    fill(store)
    store.status()
    before = sorted(each.name for each in data.iterdir())
    store.verify()
    assert sorted(each.name for each in data.iterdir()) == before


@pytest.mark.parametrize("command", [["verify"], ["diff", "current", "1"]])
def test_where_another_process_owns_the_view_it_is_refused_and_says_what_to_do(
    run: Run, data: Path, command: list[str]
) -> None:
    filled(data)
    with child(OWNER, [data]):
        result = run(*command)
    assert result.exit_code == 1
    assert "is owned by process" in result.stderr and "stop it" in result.stderr


def test_appending_goes_on_while_the_view_is_verified(store: Store) -> None:
    memory = fill(store)
    found = store.verify(lambda step: None if step.stage != "build" else append_once(memory))
    assert found.equal
    assert memory.recall("user:bob", "city").value == "Oslo"


def append_once(memory: Memory) -> None:
    memory.remember("user:bob", "city", "Oslo", source="chat", id="n2", time="2026-01-01T00:00:00Z")


def test_two_generations_of_the_same_facts_do_not_differ(run: Run, data: Path) -> None:
    with Store.open(data) as store:
        fill(store)
        store.rebuild(promote=False)
    result = run("diff", "current", "2", "--json")
    found = json.loads(result.stdout)
    assert (result.exit_code, found["equal"]) == (0, True)
    assert [(one["predicate"], one["same"]) for one in found["predicates"]] == [("city", 1), ("passes", 3)]


def later(data: Path) -> None:
    """Generation 2 stands where the log did before Ana moved; 1 is current."""
    with Store.open(data) as store:
        memory = fill(store)
        store.rebuild(promote=False)
        memory.remember("user:ana", "city", "Porto", source="chat", id="n2")
        store.status()


def test_what_differs_is_told_for_each_predicate_with_examples(run: Run, data: Path) -> None:
    later(data)
    result = run("diff", "2", "current")
    assert result.exit_code == 1
    assert '"Lisbon" current' in result.stdout and '"Porto" current (chat n2)' in result.stdout
    assert [line.split()[:6] for line in result.stdout.splitlines() if line.startswith("acme")] == [
        ["acme", "city", "0", "0", "1", "0"],
        ["acme", "passes", "0", "0", "0", "3"],
    ]


def test_no_examples_leave_the_counts(run: Run, data: Path) -> None:
    later(data)
    assert "Lisbon" not in run("diff", "2", "current", "--examples", "0").stdout


def test_a_diff_is_of_one_namespace_where_one_is_given(run: Run, data: Path) -> None:
    later(data)
    found = run("diff", "2", "current", "--namespace", "beta")
    assert found.exit_code == 0


def test_a_generation_can_be_named_by_its_file_the_live_one_too(store: Store, data: Path, tmp_path: Path) -> None:
    fill(store)
    store.rebuild(promote=False)
    copy = tmp_path / "copy.duckdb"
    copy.write_bytes((data / "views-2.duckdb").read_bytes())
    assert store.diff(copy, data / "views-1.duckdb").equal
    assert store.diff("2", "2").equal


@pytest.mark.parametrize("named", ["7", "nowhere.duckdb"])
def test_a_generation_that_is_not_there_is_refused(store: Store, named: str) -> None:
    fill(store)
    with pytest.raises(BadRequest, match=r"a: .*there is no generation 7|a: .*is neither"):
        store.diff(named, "current")


def test_a_bad_namespace_or_number_of_examples_is_refused(store: Store) -> None:
    with pytest.raises(BadNamespace):
        store.diff("1", "current", namespace="*")
    with pytest.raises(BadRequest, match="examples"):
        store.diff("1", "current", examples=-1)


def test_a_file_that_is_no_view_is_refused(store: Store, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no view")
    with pytest.raises(DataDirectory):
        store.diff(tmp_path / "text", "current")
    assert store.status().generation == "1"


def test_a_view_of_another_schema_is_refused_and_nothing_stays_attached(store: Store, data: Path) -> None:
    fill(store)
    store.rebuild(promote=False)
    store.promote("2")
    damage(store, "UPDATE meta SET value = '0' WHERE name = 'schema'")
    store.promote("1")
    store.status()
    for _ in range(2):
        with pytest.raises(DataDirectory, match="schema 0, older than"):
            store.diff("current", data / "views-2.duckdb")


def test_a_file_that_another_process_has_open_is_refused(store: Store, data: Path, tmp_path: Path) -> None:
    fill(store)
    other = tmp_path / "other"
    filled(other)
    with child(OWNER, [other]), pytest.raises(ViewLocked, match="is owned by process"):
        store.diff(other / "views-1.duckdb", "current")
