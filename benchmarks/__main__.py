"""The benchmarks: `python -m benchmarks [--json PATH] [--quick] [--only NAME]`. docs/benchmarks.md says what they mean.

Exits with 1 where a target is not met.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import orjson
from rich.console import Console

from benchmarks import graph, ingest, limits, past, replay
from benchmarks.process import run_step
from benchmarks.report import Line, as_dict, median, show, with_ratios, write_report

Step = Callable[[Path, bool], list[Line]]

STEPS: dict[str, Step] = {
    "limits": limits.measure,
    "ingest": ingest.measure,
    "graph-build": graph.build,
    "graph-start": graph.start,
    "graph-past": past.measure,
    "graph-use": graph.use,
    "replay": replay.measure,
}
STARTS = 3
BENCHMARKS = {
    "limits": ("limits",),
    "ingest": ("limits", "ingest"),
    "graph": ("graph-build", *("graph-start",) * STARTS, "graph-past", "graph-use"),
    "replay": ("replay",),
}
WIDTH = 140  # of the table where there is no terminal
REPORT = Path("bench-results/latest.json")


def main(arguments: Sequence[str]) -> int:
    """Run what is asked for; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure Tether on this machine.")
    parser.add_argument("--json", type=Path, default=REPORT, help="where the report goes")
    parser.add_argument("--quick", action="store_true", help="smaller inputs: a look, no figures to quote")
    parser.add_argument("--only", choices=BENCHMARKS, help="one benchmark, with the limits it needs")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.step is not None:
        lines = STEPS[given.step](given.folder, given.quick)
        print(orjson.dumps([as_dict(line) for line in lines]).decode())
        return 0
    started = time.perf_counter()
    lines = run([given.only] if given.only else list(BENCHMARKS), given.quick)
    write_report(given.json, lines, given.quick, time.perf_counter() - started)
    show(Console(width=None if sys.stdout.isatty() else WIDTH), lines)
    return 1 if any(line.met is False for line in lines) else 0


def run(names: Sequence[str], quick: bool) -> list[Line]:
    """The lines of some benchmarks. A step that several need runs once; one that is repeated gives its median."""
    found: dict[str, list[Line]] = {}
    done: set[str] = set()
    progress = Console(stderr=True)
    for name in names:
        with tempfile.TemporaryDirectory(prefix="tether-bench-") as folder:
            for step in BENCHMARKS[name]:
                if step in done and step in BENCHMARKS["limits"]:
                    continue
                progress.print(f"[dim]{step} …[/]")
                place = Path(folder) / "limits" if step == "limits" else Path(folder)
                place.mkdir(exist_ok=True)
                for line in run_step(step, place, quick):
                    found.setdefault(line.name, []).append(line)
                done.add(step)
    return with_ratios([_middle(lines) for lines in found.values()])


def _middle(lines: Sequence[Line]) -> Line:
    """Of several runs of one step the median one."""
    value = median(line.value for line in lines)
    return min(lines, key=lambda line: abs(line.value - value))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
