"""The times that a command which reads one slot may name."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any

import typer

ValidAt = Annotated[str | None, typer.Option("--valid-at", metavar="TIME", help="What held then (RFC 3339).")]
KnownAt = Annotated[
    str | None,
    typer.Option("--known-at", metavar="WHEN", help="What was known at a position, or at a time of recording."),
]


@dataclass(frozen=True, slots=True)
class Times:
    """A time of validity, and a position or time of recording; None: now."""

    valid_at: str | None = None
    known_at: str | None = None


def timed(run: Callable[..., None]) -> Callable[..., None]:
    """A command from `run(asked, ..., times=...)`: its `times` come from two options."""
    signature = inspect.signature(run)
    own = [each for each in signature.parameters.values() if each.name != "times"]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=form)
        for name, form in (("valid_at", ValidAt), ("known_at", KnownAt))
    ]

    @wraps(run)
    def timed_run(asked: Any, **given: Any) -> None:
        times = Times(given.pop("valid_at"), given.pop("known_at"))
        run(asked, **given, times=times)

    timed_run.__dict__["__signature__"] = signature.replace(parameters=[*own, *added])
    return timed_run
