"""What every command shares: global options before or after it, the opened store, errors and exit codes."""

import contextlib
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from tether_schemas.errors import TetherError

from tether.cli.show import printable

if TYPE_CHECKING:
    from tether.compose import Home
    from tether.memory import Memory
    from tether.settings import Settings

SOURCE = "cli"
NAMESPACES_MAX = 8
REFUSED, USAGE, INTERRUPTED = 1, 2, 130
DEBUG = "TETHER_DEBUG"
REPORT = "report it with what you did to the project's issues"

DATA_HELP = "The data directory (else TETHER_DATA)."
NAMESPACE_HELP = "The namespace: tenant or tenant/workspace (else TETHER_NAMESPACE)."
JSON_HELP = "Print JSON: one object, or one on each line."


@dataclass(frozen=True, slots=True)
class Asked:
    """The options that every command takes; what is not given comes from the environment."""

    data: Path | None
    namespace: str | None
    as_json: bool

    def settings(self) -> "Settings":
        """The settings of the environment. Raises BadRequest for one that makes no sense."""
        from tether.settings import load_settings

        return load_settings()

    def place(self) -> Path:
        """The data directory; ends the command where none is given."""
        place = self.data or self.settings().data
        return place or refuse("no data directory; give --data DIR or set TETHER_DATA", USAGE)

    def given_namespace(self) -> str | None:
        """The namespace, or None where none is given."""
        return self.namespace or self.settings().namespace or None

    def wall(self) -> str:
        """The namespace; ends the command where none is given."""
        given = self.given_namespace()
        return given or refuse(
            "no namespace; give --namespace NS (tenant or tenant/workspace) or set TETHER_NAMESPACE", USAGE
        )

    @contextmanager
    def home(self, create: bool = False) -> "Generator[Home]":
        """The opened data directory."""
        place = self.place()
        from tether.compose import Home

        home = Home.open(place, self.settings(), create)
        try:
            yield home
        finally:
            home.close()

    @contextmanager
    def memory(self) -> "Generator[Memory]":
        """The memory of the namespace, in a directory that is there."""
        wall = self.wall()
        with self.home() as home:
            from tether.memory import Memory

            yield Memory(home, wall, source=SOURCE)
            note_unused(home, wall)


def note_unused(home: "Home", namespace: str | None) -> None:
    """Say on stderr that nothing was ever appended to a namespace, where that is so, and which there are."""
    from tether.store import Store

    there = [] if namespace is None else Store(home, SOURCE).namespaces()
    if namespace is None or namespace in there:
        return
    more = f" and {len(there) - NAMESPACES_MAX} more" if len(there) > NAMESPACES_MAX else ""
    named = f"there are {', '.join(there[:NAMESPACES_MAX])}{more}" if there else "there is no other either"
    typer.echo(printable(f"tether: nothing was ever appended to namespace {namespace}; {named}"), err=True)


def refuse(message: str, code: int = REFUSED) -> NoReturn:
    """Say on stderr why the command ends, and end it."""
    typer.echo(f"tether: {printable(message)}", err=True)
    raise typer.Exit(code)


def told(error: BaseException) -> int:
    """Say on stderr what went wrong, in a line; the exit code for it. A reader of a pipe that has gone is no error."""
    code = REFUSED
    match error:
        case BrokenPipeError():
            drop_output()
            return 0
        case TetherError():
            message = str(error)
        case KeyboardInterrupt():
            message, code = "interrupted", INTERRUPTED
        case _:
            if os.environ.get(DEBUG):
                traceback.print_exception(error)
            message = f"unexpected {type(error).__name__}: {error!s:.300}; {REPORT} ({DEBUG}=1 shows where)"
    typer.echo(f"tether: {printable(message)}", err=True)
    return code


@contextmanager
def guarded() -> Generator[None]:
    """Turns every error of a command into a line on stderr and an exit code."""
    try:
        yield
        sys.stdout.flush()
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except (Exception, KeyboardInterrupt) as error:
        raise typer.Exit(told(error)) from None


def drop_output() -> None:
    """Nobody reads any more: what is still buffered goes nowhere, so that closing it does not fail."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def command(run: Callable[..., None]) -> Callable[..., None]:
    """A command from `run(asked, ...)`: with the options that every command takes, and guarded."""
    signature = inspect.signature(run)
    own = list(signature.parameters.values())[1:]
    keyword = inspect.Parameter.KEYWORD_ONLY
    common = {
        "data": Annotated[Path | None, typer.Option("--data", metavar="DIR", help=DATA_HELP)],
        "namespace": Annotated[str | None, typer.Option("--namespace", metavar="NS", help=NAMESPACE_HELP)],
        "as_json": Annotated[bool, typer.Option("--json", help=JSON_HELP)],
    }
    added = [
        inspect.Parameter(name, keyword, default=False if name == "as_json" else None, annotation=form)
        for name, form in common.items()
    ]
    context = inspect.Parameter("ctx", keyword, annotation=typer.Context)

    @wraps(run)
    def guarded_run(**given: Any) -> None:
        first: Asked = given.pop("ctx").find_object(Asked) or Asked(None, None, False)
        data, namespace, as_json = (given.pop(name) for name in common)
        with guarded():
            run(Asked(data or first.data, namespace or first.namespace, as_json), **given)

    parameters = [*(each.replace(kind=keyword) for each in own), *added, context]
    guarded_run.__dict__["__signature__"] = signature.replace(parameters=parameters)
    guarded_run.__annotations__ = {each.name: each.annotation for each in parameters}
    return guarded_run
