"""The command line as a process: help, interrupts, closed pipes, colour."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.tether.test_cli_ingest import event
from tether import Store

COMMAND = [sys.executable, "-m", "tether"]


def environment(data: Path, **more: str) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("TETHER_")}
    return {**own, "TETHER_DATA": str(data), "TETHER_NAMESPACE": "acme", "COLUMNS": "80", **more}


HELP = """
import sys
from tether.cli import main
sys.argv = ["tether", "--help"]
try:
    main()
except SystemExit:
    pass
print([name for name in ("duckdb", "numpy", "univers") if name in sys.modules])
"""


def test_help_comes_without_the_engine(data: Path) -> None:
    """What takes long to load is not loaded for it."""
    ran = subprocess.run([sys.executable, "-c", HELP], env=environment(data), capture_output=True, check=True)
    assert b"recall" in ran.stdout
    assert ran.stdout.rstrip().endswith(b"[]")


def test_an_interrupt_says_what_is_kept(data: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "ingest", "-"], env=environment(data), stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None and process.stderr is not None
        process.stdin.write(b"".join(event(number) + b"\n" for number in range(1_000)))
        process.stdin.flush()
        wait_for(data, 1_000)
        process.send_signal(signal.SIGINT)
        said = process.stderr.read().decode()
        assert process.wait(30) == 130
    assert said.startswith("tether: interrupted; what was appended so far is kept (1,000 accepted")
    with Store.open(data) as store:
        assert store.status("acme").events == 1_000


def wait_for(data: Path, count: int) -> None:
    """Until the log holds so many events."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if (data / "log.sqlite").exists():
            with Store.open(data) as store:
                if store.status("acme").events >= count:
                    time.sleep(0.2)
                    return
        time.sleep(0.05)
    pytest.fail("the events did not come")


def test_a_closed_pipe_is_silent(data: Path) -> None:
    with Store.open(data) as store:
        store.append_many([event(number, namespace="acme") for number in range(3_000)])
    with subprocess.Popen(
        [*COMMAND, "history", "item:part1@1", "passes", "--json"],
        env=environment(data),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert (process.stderr.read(), process.wait(60)) == (b"", 0)


def test_following_changes_tells_each_as_it_comes(data: Path) -> None:
    with Store.open(data) as store:
        store.append_many([event(1, namespace="acme")])
        command = [*COMMAND, "changes", "--follow", "--json"]
        with subprocess.Popen(command, env=environment(data), stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            first = json.loads(process.stdout.readline())
            store.append_many([event(2, namespace="acme")])
            second = json.loads(process.stdout.readline())
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 130
    assert [first["subject"], second["subject"]] == ["item:part1@1", "item:part2@1"]


def test_there_is_no_colour_without_a_terminal(data: Path) -> None:
    given = event(1)
    subprocess.run([*COMMAND, "ingest", "-"], env=environment(data), input=given, check=True, capture_output=True)
    ran = subprocess.run(
        [*COMMAND, "recall", "item:part1@1", "passes"], env=environment(data), check=True, capture_output=True
    )
    assert b"\x1b" not in ran.stdout + ran.stderr


def test_a_terminal_without_unicode_is_no_reason_to_fail(data: Path) -> None:
    given = event(1).replace(b"item:part1@1", "item:größe@1".encode())
    plain = environment(data, PYTHONIOENCODING="ascii")
    subprocess.run([*COMMAND, "ingest", "-"], env=plain, input=given, check=True, capture_output=True)
    ran = subprocess.run([*COMMAND, "why", "item:größe@1", "passes"], env=plain, check=True, capture_output=True)
    assert rb"gr\xf6" in ran.stdout
