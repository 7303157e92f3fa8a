"""Steps of benchmarks, each in a process of its own, so that none warms up or burdens another."""

import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import orjson

from benchmarks.report import Line

RUN_S_MAX = 1_800


def resident_bytes(field: str) -> int:
    """`VmRSS` or `VmHWM` (the peak) of this process, 0 where the system does not tell."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0
    for line in status.read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    return 0


def run_step(step: str, folder: Path, quick: bool) -> list[Line]:
    """Run one step of `benchmarks.__main__` in a process of its own; the lines that it gives."""
    command = [sys.executable, "-m", "benchmarks", "--step", step, "--folder", str(folder)]
    done = subprocess.run(command + ["--quick"] * quick, stdout=subprocess.PIPE, timeout=RUN_S_MAX, check=True)
    found = cast(list[dict[str, Any]], orjson.loads(done.stdout.splitlines()[-1]))
    return [Line(**{name: value for name, value in one.items() if name != "met"}) for one in found]
