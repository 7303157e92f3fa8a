"""Child processes of the tests: programs that import tether and talk to the test in lines of text."""

import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

# Appends verdicts that derive from the one before, one receipt a line, until it is killed. With `read`, it drives the
# view as well, so that a kill may fall into extraction or into the view's transaction.
INGEST = """
import sys, time
from tether import Store
data, first, batch, read = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "read"
pause = float(sys.argv[5]) if len(sys.argv) > 5 else 0
with Store.open(data) as store:
    memory = store.memory("acme")
    print("ready", flush=True)
    number = first
    while True:
        events = []
        for one in range(number, number + batch):
            arguments = {"subject": f"item:part{one}@1", "predicate": "passes", "value": one % 97 != 0,
                         "derived_from": [f"item:part{max(one - 7, 0)}@1"]}
            events.append({"specversion": "1.0", "id": f"{one:08d}", "source": "ci", "type": "tether.tool_result.v1",
                           "time": f"2026-01-01T00:00:00.{one:06d}Z", "data": {"tool": "memory.write",
                           "arguments": arguments, "result": None, "is_error": False}})
        receipts = memory.append_many(events)
        assert all(receipt.position for receipt in receipts), receipts
        number += batch
        print(number, flush=True)
        if read:
            memory.recall("item:part0@1", "passes")
        time.sleep(pause)
"""

# Reads once, and keeps the view until it gets a line.
OWNER = """
import sys
from tether import Memory
with Memory.open(sys.argv[1], namespace="acme") as memory:
    memory.recall("user:ana", "city")
    print("ready", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def child(program: str, arguments: Sequence[str | Path | int]) -> Generator[subprocess.Popen[str]]:
    """A child process that has said `ready`; killed at the end, if it still runs."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def lines(process: subprocess.Popen[str]) -> list[str]:
    """What the process still wrote before it ended, in whole lines."""
    assert process.stdout is not None
    return [line for line in process.stdout.read().splitlines(keepends=True) if line.endswith("\n")]


# Builds the next generation; says `ready` at once, then each stage, and what came of it.
REBUILD = """
import sys
from tether import Store, TetherError
print("ready", flush=True)
with Store.open(sys.argv[1], create=False) as store:
    try:
        built = store.rebuild(lambda step: print(step.stage, step.done, flush=True), from_raw=sys.argv[2] == "raw")
    except TetherError as error:
        print(type(error).__name__, error, flush=True)
    else:
        print("built", built.generation, flush=True)
"""
