"""The demonstration: its data is a cut of the world that the tests hold, and what it shows is read and compared."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.tether.worlds import load
from tether import Store
from tether.cli.app import app
from tether.demo.acts import Acts, Checks
from tether.demo.world import World, subject

LINES_MAX = 60


def test_the_bundled_world_is_a_cut_of_the_tests_own() -> None:
    whole, cut = load("etcd-server-3.5.9"), World()
    rows = [row for row in whole.rows if row["type"] == "advisory"]
    standing = [found for row, found in zip(whole.rows, whole.standing(), strict=True) if row["type"] == "advisory"]
    revisions = list(cut.revisions())
    kept = ("t", "id", "revision", "withdrawn", "expected_withdrawn_total")
    assert [[one.row[name] for name in kept] for one in revisions] == [[row[name] for name in kept] for row in rows]
    assert [one.standing for one in revisions] == standing
    assert cut.subjects == whole.subjects
    edges = [(subject(row["src"]), subject(row["dst"])) for row in whole.rows if row["type"] == "derived_from"]
    arguments = [event["data"]["arguments"] for event in cut.links("x")]
    assert [(one["dependent"], one["premise"]) for one in arguments] == edges
    for one, row in zip(revisions, rows, strict=True):
        packages = [(entry["package"], entry["ranges"]) for entry in row["affected"]]
        assert [(entry["package"], entry["ranges"]) for entry in one.row["affected"]] == packages


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    data = tmp_path_factory.mktemp("demo") / "kept"
    result = CliRunner().invoke(app, ["demo", "--data", str(data)], env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    return data, result.stdout


def test_it_is_short_and_fits_eighty_columns(shown: tuple[Path, str]) -> None:
    lines = [line for line in shown[1].splitlines() if not line.startswith("Kept")]
    assert len(lines) <= LINES_MAX
    assert max(map(len, lines)) <= 80


def test_every_number_was_as_expected(shown: tuple[Path, str]) -> None:
    assert "all as expected" in shown[1]
    assert shown[1].count("  equal") == 3


def test_a_directory_that_holds_a_store_is_refused(shown: tuple[Path, str]) -> None:
    result = CliRunner().invoke(app, ["demo", "--data", str(shown[0])])
    assert (result.exit_code, "already holds a store" in result.stderr) == (1, True)


def test_a_number_that_differs_is_told_and_ends_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(self: Acts, tick: Any) -> tuple[int, list[Any]]:
        self.checks.same("passes", 91, 92)
        return 0, []

    monkeypatch.setattr(Acts, "replay", wrong)
    result = CliRunner().invoke(app, ["demo", "--json"])
    assert result.exit_code == 1
    assert json.loads(result.stdout)["differ"] == ["passes: read 91, expected 92"]
    assert "differs: passes: read 91, expected 92" in CliRunner().invoke(app, ["demo"]).stdout


def test_the_reads_are_of_the_store(tmp_path: Path) -> None:
    """A failure that the world does not expect shows as a difference."""
    checks = Checks()
    with Store.open(tmp_path / "data") as store:
        acts = Acts(store, checks)
        acts.fill()
        assert checks.faults == []
        store.memory("demo/tether").remember(acts.world.subjects[0], "passes", False, source="audit")
        acts.replay(lambda _: None)
    assert checks.faults
