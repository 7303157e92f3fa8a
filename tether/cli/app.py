"""The application: global options, and every command in the order of its help."""

from pathlib import Path
from typing import Annotated

import typer

from tether.cli import asof, letters, reads, replay, transfer, verify, writes
from tether.cli.common import DATA_HELP, NAMESPACE_HELP, Asked, command

app = typer.Typer(
    name="tether",
    help="Memory for agents in which every assertion is tied to the evidence and versions it rests on.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"tether {version('tether')}")
        raise typer.Exit


@app.callback()
def options(
    ctx: typer.Context,
    data: Annotated[Path | None, typer.Option("--data", metavar="DIR", help=DATA_HELP)] = None,
    namespace: Annotated[str | None, typer.Option("--namespace", metavar="NS", help=NAMESPACE_HELP)] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """What is given before the command."""
    ctx.obj = Asked(data, namespace, False)


for _name, _run in {
    "open": writes.open_directory,
    "demo": writes.demo,
    "ingest": writes.ingest,
    "recall": reads.recall,
    "why": reads.why,
    "dependents": reads.dependents,
    "history": reads.history,
    "forget": writes.forget,
    "changes": reads.changes,
    "status": reads.status,
    "backup": replay.backup,
    "compact": replay.compact,
    "export": transfer.export_events,
    "import": transfer.import_events,
}.items():
    app.command(_name)(command(_run))

_letters = typer.Typer(no_args_is_help=True, help="What could not go on, kept whole with the reason.")
for _name, _run in {"list": letters.list_letters, "show": letters.show, "replay": letters.replay}.items():
    _letters.command(_name)(command(_run))
app.add_typer(_letters, name="dead-letters")

_replay = typer.Typer(no_args_is_help=True, help="Rebuild the views from history, verify them; their generations.")
for _name, _run in {
    "views": replay.views,
    "list": replay.list_all,
    "promote": replay.promote,
    "prune": replay.prune,
    "as-of": asof.as_of,
    "verify": verify.verify,
    "diff": verify.diff,
}.items():
    _replay.command(_name)(command(_run))
app.add_typer(_replay, name="replay")
