"""The commands that rebuild the views from the log, and look after their generations."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from tether.cli.common import INTERRUPTED, SOURCE, Asked, refuse
from tether.cli.show import cell, console, count, fields, put, put_json, table

if TYPE_CHECKING:
    from tether_replay.views import Progress as Step
    from tether_replay.views import Watch

STAGES = {
    "extract": "extracting",
    "log": "reading",
    "build": "building",
    "check": "checking",
    "compare": "comparing",
    "copy": "copying",
    "compact": "compacting",
}
SHOWN_EVERY_S = 0.05

Generation = Annotated[str, typer.Argument(metavar="GENERATION", help="The number of a generation.")]
FromRaw = Annotated[bool, typer.Option("--from-raw", help="Extract facts from the raw events again first.")]
NoPromote = Annotated[bool, typer.Option("--no-promote", help="Leave the current generation current.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Begin anew, also where a build was interrupted.")]
Keep = Annotated[int | None, typer.Option("--keep", metavar="N", min=0, help="Afterwards remove all but N older ones.")]
Topics = Annotated[
    list[str] | None, typer.Option("--topic", metavar="TOPIC", help="Only events of this raw topic; may be repeated.")
]


def views(
    asked: Asked,
    from_raw: FromRaw = False,
    no_promote: NoPromote = False,
    fresh: Fresh = False,
    keep: Keep = None,
    topic: Topics = None,
) -> None:
    """Build the next generation of the views from the log, beside the live one, and promote it."""
    from tether.store import Store

    with asked.home() as home:
        try:
            with shown_progress() as watch:
                built = Store(home, SOURCE).rebuild(
                    watch,
                    from_raw=from_raw,
                    promote=not no_promote,
                    fresh=fresh,
                    keep=keep,
                    namespace=asked.namespace,
                    topics=topic or None,
                )
        except KeyboardInterrupt:
            refuse("interrupted; the same command goes on from here, --fresh begins anew", INTERRUPTED)
    if asked.as_json:
        put_json(built)
        return
    put(
        fields(
            [
                ("generation", f"{built.generation}{' (current now)' if built.promoted else ''}"),
                ("facts of", f"extraction {built.extraction}"),
                ("stands at", f"position {built.position}"),
                ("applied", count(built.records, "event")),
                ("behind by", count(built.lag, "event")),
            ]
        )
    )


@contextmanager
def shown_progress(rate: ProgressColumn | None = None) -> "Generator[Watch]":
    """A bar with stage, rate, remaining time and lag on a terminal's stderr; elsewhere nothing is shown."""
    out = console(stderr=True)
    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        rate or Rate(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=out,
        transient=True,
        disable=not out.is_terminal,
    ) as bar:
        task = bar.add_task("building", total=None, records=0, began=time.monotonic())
        stage, latest = "", 0.0

        def watch(step: "Step") -> None:
            nonlocal stage, latest
            now = time.monotonic()
            if step.stage != stage:
                stage = step.stage
                bar.reset(task, description=STAGES.get(stage, stage), records=0, began=now)
            elif now - latest < SHOWN_EVERY_S and step.done < step.total:
                return
            latest = now
            bar.update(task, completed=step.done, total=step.total, records=step.records)

        yield watch


class Rate(ProgressColumn):
    """Events so far, how many a second, and how many positions are left."""

    def render(self, task: Task) -> Text:
        elapsed = time.monotonic() - task.fields["began"]
        rate = task.fields["records"] / elapsed if elapsed > 0 else 0
        behind = int((task.total or 0) - task.completed)
        if not task.fields["records"]:
            return Text("")
        return Text(f"{task.fields['records']:,} events  {rate:,.0f}/s  {behind:,} positions behind")


def list_all(asked: Asked) -> None:
    """Every generation of the views, and builds that were interrupted."""
    from tether.store import Store

    with asked.home() as home:
        found = Store(home, SOURCE).generations()
    if asked.as_json:
        put_json(found)
        return
    rows = [
        (
            one.generation,
            "current" if one.current else "" if one.finished else "interrupted",
            _mib(one.size_bytes),
            one.built_at,
        )
        for one in found
    ]
    put(table(("generation", "", "size", "written"), rows, right=("size",)))


def promote(asked: Asked, generation: Generation) -> None:
    """Make a generation the current one."""
    from tether.store import Store

    with asked.home() as home:
        store = Store(home, SOURCE)
        store.promote(generation)
        found = next(one for one in store.generations() if one.current)
    if asked.as_json:
        put_json(found)
    else:
        put(cell(f"generation {generation} is current"))


def prune(
    asked: Asked,
    keep: Annotated[int, typer.Option("--keep", metavar="N", min=0, help="How many older ones stay.")] = 1,
) -> None:
    """Remove old generations: all but the newest beside the current one."""
    from tether.store import Store

    with asked.home() as home:
        gone = Store(home, SOURCE).prune(keep)
    if asked.as_json:
        put_json({"removed": gone})
    else:
        put(cell(f"{count(len(gone), 'generation')} removed{': ' if gone else ''}{', '.join(gone)}"))


def backup(
    asked: Asked,
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The new directory.")],
    tried: Annotated[bool, typer.Option("--try", help="Open the backup, build its views and check them.")] = False,
) -> None:
    """Back the data directory up into a new one, while it is in use."""
    from tether.store import Store

    with asked.home() as home, shown_progress() as watch:
        made = Store(home, SOURCE).backup(directory, watch, tried=tried)
    if asked.as_json:
        put_json(made)
        return
    rows: list[tuple[str, object]] = [
        ("backup", directory),
        ("holds", f"{count(made.events, 'event')} up to position {made.position}"),
        ("size", _mib(made.size_bytes)),
    ]
    rows += [("built and checked", f"{name}  {digest[:32]}") for name, digest in (made.digests or {}).items()]
    put(fields(rows))


def compact(
    asked: Asked,
    keep: Annotated[
        int | None, typer.Option("--keep", metavar="N", min=0, help="How many of the newest records stay as they are.")
    ] = None,
) -> None:
    """Move the payloads of old events into compressed segments; history replays as before."""
    from tether_replay.compact import KEEP_RECORDS

    from tether.store import Store

    with asked.home() as home, shown_progress() as watch:
        done = Store(home, SOURCE).compact(KEEP_RECORDS if keep is None else keep, watch)
    if asked.as_json:
        put_json(done)
        return
    put(
        fields(
            [
                ("moved", count(done.payloads, "payload")),
                ("segments", _mib(done.segment_bytes)),
                ("log", f"{_mib(done.log_bytes_before)}, now {_mib(done.log_bytes_after)}"),
            ]
        )
    )


def _mib(size_bytes: int) -> str:
    return f"{size_bytes / 1024 / 1024:,.1f} MiB"
