"""`tether demo`: real advisories against a real module graph, replayed, explained, lifted, deleted and rebuilt.

Every number shown is read from the store, and compared with what the world's rows expect.
"""

import tempfile
import time
from pathlib import Path

from rich.console import Console
from tether_schemas.errors import DataDirectory

from tether.cli.show import console, put_json
from tether.demo.acts import Acts, Checks, as_json
from tether.demo.stage import Stage
from tether.store import Store


def run(data: Path | None, wants_json: bool) -> bool:
    """Run it in `data`, which is kept, or in a temporary directory. Whether every read was as expected."""
    if data is not None:
        if (data / "log.sqlite").exists():
            raise DataDirectory(str(data), "already holds a store; name a new directory for the demo")
        return _run(data, wants_json, str(data))
    with tempfile.TemporaryDirectory(prefix="tether-demo-") as folder:
        return _run(Path(folder), wants_json, None)


def _run(data: Path, wants_json: bool, kept: str | None) -> bool:
    started = time.monotonic()
    checks = Checks()
    out = Console(quiet=True) if wants_json else console()
    stage = Stage(out)
    with Store.open(data, source="demo") as store:
        acts = Acts(store, checks)
        stage.filled(*acts.fill())
        stage.lifted(acts.lift())
        with out.status("replaying") as shown:
            count, lines = acts.replay(lambda date: shown.update(f"replaying {date}"))
        stage.replayed(count, lines)
        if acts.deep is not None:
            stage.explained(acts.deep)
        deletion = acts.forget()
        stage.forgotten(deletion)
        live = acts.digests()
        with out.status("rebuilding"):
            store.rebuild()
        again = acts.digests()
    checks.same("digests of the rebuilt views", again, live)
    stage.rebuilt(live, again)
    stage.ended(checks, time.monotonic() - started, kept)
    if wants_json:
        result = {"advisories": count, "table": as_json(lines), "erased": deletion.erased}
        put_json({**result, "digests": live, "comparisons": checks.made, "differ": checks.faults})
    return not checks.faults
