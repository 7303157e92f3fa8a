"""The command line from a user's side: what each command prints, in words and as JSON, and what it refuses."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tether import Memory, Store, to_json
from tether.cli.app import app

APP, LIB = "pkg:golang/example.com/app@v1.0.0", "pkg:golang/example.com/lib@v1.4.2"
ANA = "user:ana@example.com"

Run = Callable[..., Result]


@pytest.fixture
def run(data: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("TETHER_DATA", "TETHER_NAMESPACE", "TETHER_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TETHER_DATA", str(data))
    monkeypatch.setenv("TETHER_NAMESPACE", "acme")

    def invoke(*arguments: str | Path, given: str | bytes = b"") -> Result:
        return CliRunner().invoke(app, [str(each) for each in arguments], input=given)

    return invoke


@pytest.fixture
def filled(data: Path) -> Path:
    """An app that passes, a library that it derives from and that fails, and what Ana said."""
    with Memory.open(data, namespace="acme") as memory:
        memory.remember(APP, "passes", True, source="ci", id="build-7")
        memory.link(APP, LIB, source="ci", id="graph-7")
        memory.recall(APP, "passes")
        memory.remember(LIB, "passes", False, source="audit", id="finding-1")
        memory.remember(ANA, "city", "Kyoto", source="chat", id="note-1")
    return data


def objects(result: Result) -> list[Any]:
    assert result.exit_code in (0, 1), result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


READS: list[tuple[list[str], Callable[[Memory], Any]]] = [
    (["recall", APP, "passes"], lambda memory: memory.recall(APP, "passes")),
    (["recall", ANA, "city"], lambda memory: memory.recall(ANA, "city")),
    (["why", APP, "passes"], lambda memory: memory.why(APP, "passes")),
    (["dependents", LIB], lambda memory: memory.dependents(LIB)),
    (
        ["dependents", "--evidence", "ci", "build-7"],
        lambda memory: memory.dependents({"source": "ci", "id": "build-7"}),
    ),
    (["history", LIB, "passes"], lambda memory: memory.history(LIB, "passes")),
    (["changes", "--since", "1"], lambda memory: memory.changes(1)),
    (["status"], lambda memory: memory.status()),
]


@pytest.mark.parametrize(("arguments", "read"), READS, ids=[" ".join(each[:1]) for each, _ in READS])
def test_json_is_the_answer_of_the_sdk(run: Run, filled: Path, arguments: list[str], read: Callable[..., Any]) -> None:
    printed = objects(run(*arguments, "--json"))
    with Memory.open(filled, namespace="acme") as memory:
        answer = json.loads(to_json(read(memory)))
    assert printed == (answer if isinstance(answer, list) else [answer])


def test_what_is_not_current_is_an_answer(run: Run, filled: Path) -> None:
    result = run("recall", APP, "passes")
    assert result.exit_code == 0
    assert "withdrawn" in result.stdout
    assert "null" in result.stdout


def test_the_tree_of_why_leads_to_the_cause(run: Run, filled: Path) -> None:
    lines = run("why", APP, "passes").stdout.splitlines()
    assert [APP in lines[0], LIB in lines[1], "failed" in lines[2], "audit finding-1" in lines[2]] == [True] * 4


def test_the_options_stand_before_or_after_the_command(run: Run, filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TETHER_DATA")
    monkeypatch.delenv("TETHER_NAMESPACE")
    given = ["--data", str(filled), "--namespace", "acme"]
    before, after = run(*given, "recall", ANA, "city", "--json"), run("recall", ANA, "city", "--json", *given)
    assert objects(before) == objects(after)
    assert objects(after)[0]["value"] == "Kyoto"


def test_without_a_namespace_changes_and_status_are_of_the_store(
    run: Run, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TETHER_NAMESPACE")
    assert objects(run("status", "--json"))[0]["namespace"] is None
    assert "acme: " in run("changes").stdout


@pytest.mark.parametrize(
    ("target", "erased"),
    [
        (["--subject", ANA], 1),
        (["--source", "ci"], 1),
        (["--evidence", "chat", "note-1"], 1),
        (["--source", "chat", "--session", "s-1"], 0),
    ],
)
def test_forget_says_how_much_it_erased(run: Run, filled: Path, target: list[str], erased: int) -> None:
    [answer] = objects(run("forget", *target, "--reason", "asked for", "--json"))
    assert (answer["erased"], answer["duplicate"]) == (erased, False)
    assert answer["reason"].endswith(f"erased by now: {erased}") or answer["reason"].startswith("nothing on record")
    assert run("forget", *target).stdout.startswith("erased 0 statements: ")


@pytest.mark.parametrize(
    ("target", "says"),
    [
        (
            ["--subject", "user:anna@example.com"],
            f"matches user:anna@example.com; on record are {ANA}. The deletion is",
        ),
        (["--source", "chta"], "matches source chta; on record are chat. The deletion is recorded: it may come before"),
        (["--evidence", "chat", "note-1"], "all that it covers was erased before"),
        (["--source", "log"], "nothing is asserted in the 1 event that it covers"),
    ],
)
def test_forgetting_nothing_says_why(run: Run, filled: Path, target: list[str], says: str) -> None:
    with Memory.open(filled, namespace="acme") as memory:
        memory.forget({"evidence": {"source": "chat", "id": "note-1"}})
        memory.transcript("s-1", 1, "user", "hi", source="log")
    told = " ".join(run("forget", *target).stdout.split())
    assert told.startswith("erased 0 statements: ") and says in told


def test_forget_counts_what_names_its_readers(run: Run, filled: Path) -> None:
    with Store.open(filled) as store:
        store.memory("acme", "ana").remember(ANA, "salary", 7, readers=["ana"], source="hr")
    assert run("forget", "--source", "hr").stdout == "erased 1 statement\n"


@pytest.mark.parametrize(
    "command",
    [
        ["status"],
        ["changes"],
        ["recall", ANA, "city"],
        ["why", ANA, "city"],
        ["history", ANA, "city"],
        ["dependents", LIB],
    ],
)
def test_a_namespace_that_was_never_used_is_told_with_those_that_exist(
    run: Run, filled: Path, command: list[str]
) -> None:
    result = run(*command, "--json", "--namespace", "acmee")
    assert (result.exit_code, result.stderr) == (
        0,
        "tether: nothing was ever appended to namespace acmee; there are acme\n",
    )
    assert not run(*command, "--namespace", "acme").stderr


def test_forgetting_is_recorded_while_another_process_owns_the_view(run: Run, filled: Path) -> None:
    with Memory.open(filled, namespace="acme") as memory:
        assert memory.recall(ANA, "city").value == "Kyoto"
        refused = run("recall", ANA, "city")
        assert (refused.exit_code, "read through that one" in refused.stderr) == (1, True)
        assert objects(run("forget", "--subject", ANA, "--json"))[0]["erased"] is None
        assert memory.recall(ANA, "city").status == "tombstoned"


def test_values_do_nothing_to_the_terminal(run: Run, data: Path) -> None:
    with Memory.open(data, namespace="acme") as memory:
        memory.remember(ANA, "city", "[red]\x1b[2J\x07", source="chat")
    for command in (["recall", ANA, "city"], ["history", ANA, "city"]):
        assert "\x1b" not in run(*command).stdout
        assert "[red]" in run(*command).stdout


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["recall", "ana", "city"], 1, "scheme:name"),
        (["recall", ANA, "city", "--valid-at", "yesterday"], 1, "RFC 3339"),
        (["recall", ANA], 2, "Missing argument"),
        (["recal", ANA, "city"], 2, "No such command"),
        (["recall", ANA, "city", "--scop", "x"], 2, "No such option"),
        (["recall", ANA, "city", "--namespace", "*"], 1, "tenant or tenant/workspace"),
        (["dependents"], 2, "--evidence SOURCE ID"),
        (["forget"], 2, "give one of"),
        (["forget", "--session", "s"], 2, "--source"),
        (["forget", "--subject", ANA, "--source", "chat"], 2, "give one of"),
        (["dead-letters", "show", "7"], 1, "there is no dead letter 7"),
        (["dead-letters", "replay", "7"], 1, "there is no dead letter 7"),
        (["ingest", "missing.ndjson"], 2, "missing.ndjson"),
    ],
)
def test_a_mistake_is_told(run: Run, filled: Path, arguments: list[str], code: int, says: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert says in " ".join(result.stderr.split())


@pytest.mark.parametrize("command", [["recall", ANA, "city"], ["status"], ["changes"], ["dead-letters", "list"]])
def test_a_missing_directory_is_refused_by_what_reads(run: Run, data: Path, command: list[str]) -> None:
    result = run(*command)
    assert (result.exit_code, "does not exist; check the path" in result.stderr) == (1, True)
    assert not data.exists()


def test_a_missing_option_says_how_to_give_it(run: Run, filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TETHER_NAMESPACE")
    result = run("recall", ANA, "city")
    assert (result.exit_code, "--namespace NS" in result.stderr) == (2, True)
    monkeypatch.delenv("TETHER_DATA")
    result = run("status")
    assert (result.exit_code, "--data DIR" in result.stderr) == (2, True)


def test_a_bad_setting_is_named(run: Run, filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TETHER_VIEW_THREADS", "none")
    result = run("status")
    assert (result.exit_code, "TETHER_VIEW_THREADS" in result.stderr) == (1, True)


def test_an_unexpected_error_is_one_line(run: Run, filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Memory, *_: Any, **__: Any) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(Memory, "recall", broken)
    result = run("recall", ANA, "city")
    assert result.exit_code == 1
    assert result.stderr.startswith("tether: unexpected ZeroDivisionError: by zero; report it")
    assert len(result.stderr.splitlines()) == 1
    monkeypatch.setenv("TETHER_DEBUG", "1")
    assert "Traceback" in run("recall", ANA, "city").stderr


def test_open_makes_a_directory_once(run: Run, data: Path) -> None:
    assert objects(run("open", "--json")) == [{"path": str(data), "made": True}]
    assert objects(run("open", "--json")) == [{"path": str(data), "made": False}]
    with Store.open(data, create=False) as store:
        assert store.status().events == 0


def test_the_version_is_printed(run: Run) -> None:
    assert run("--version").stdout.startswith("tether 0.")
