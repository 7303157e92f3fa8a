"""How the demonstration is shown: a heading line for each act, and at most sixty lines in all."""

from rich.console import Console
from rich.text import Text
from rich.tree import Tree
from tether_schemas.answers import Why

from tether.cli.show import cell, table
from tether.cli.trees import why_tree
from tether.demo.acts import BBOLT, LIFTED, Checks, Deletion, Lift, Line

PACKAGE_CHARS = 21


class Stage:
    """Shows each act on a console."""

    def __init__(self, out: Console) -> None:
        self._out = out
        self._number = 0

    def _act(self, text: str) -> None:
        self._number += 1
        if self._number > 1:
            self._out.print()
        self._out.print(Text.assemble((f"{self._number}  ", "cyan"), (text, "bold")))

    def filled(self, verdicts: int, edges: int, passes: int) -> None:
        self._act("Memory: the modules of etcd server 3.5.9, and what each derives from")
        self._out.print(cell(f"   {verdicts} verdicts, {edges} derivations; {passes} modules are served as passing."))

    def replayed(self, count: int, lines: list[Line]) -> None:
        self._act(f"{count} dated Go advisories: passes served without edges, and by Tether")
        rows = [
            (
                *(line.date, line.advisory, _short(line.package)),
                *_pair(line.naive, line.naive_wrong),
                *_pair(line.served, line.served_wrong),
            )
            for line in lines
        ]
        columns = ("date", "advisory", "about", "no edges", "wrong", "Tether", " wrong")
        self._out.print(table(columns, rows, right=columns[3:]))
        self._out.print(cell("   Wrong: resting on a module that has failed. Shown are those that changed it.", "dim"))

    def explained(self, why: Why) -> None:
        self._act(f"Why {why.subject.removeprefix('pkg:golang/')} went: one of its causes")
        self._out.print(why_tree(why, 1))

    def lifted(self, lift: Lift) -> None:
        self._act(f"One advisory alone: {LIFTED}, which its authors withdrew")
        tree = Tree(_fate(lift, BBOLT), guide_style="dim")
        for one in lift.dependents:
            tree.add(_fate(lift, one.node))
        self._out.print(tree)
        self._out.print(
            cell(f"   Published on {lift.dates[0]}, withdrawn on {lift.dates[1]}: what it reached is back.", "dim")
        )

    def forgotten(self, deletion: Deletion) -> None:
        self._act("A session (made up) is deleted, and with it whatever was derived from it")
        for one in deletion.statements:
            fate = cell("erased") if one.erased else cell("kept", "red")
            self._out.print(Text.assemble("   ", cell(f"{one.evidence.source} {one.evidence.id}"), "  ", fate))
        self._out.print(
            cell(
                f"   {deletion.erased} statements erased; still {deletion.passes} passes: erasing serves nothing more."
            )
        )

    def rebuilt(self, live: dict[str, str], again: dict[str, str]) -> None:
        self._act("The views, made anew from the log alone")
        for name, digest in live.items():
            same = cell("equal", "green") if again[name] == digest else cell("DIFFERENT", "red")
            self._out.print(Text.assemble("   ", cell(f"{name:<20}"), cell(digest[:32], "dim"), "  ", same))

    def ended(self, checks: Checks, seconds: float, kept: str | None) -> None:
        self._out.print()
        for fault in checks.faults:
            self._out.print(cell(f"differs: {fault}", "red"))
        verdict = "all as expected" if not checks.faults else f"{len(checks.faults)} NOT as expected"
        style = "green" if not checks.faults else "red"
        self._out.print(cell(f"{checks.made} comparisons with what is expected: {verdict}. {seconds:.1f} s.", style))
        if kept:
            self._out.print(cell(f"Kept: tether status --data {kept}", "dim"))


def _short(package: str) -> str:
    return package if len(package) <= PACKAGE_CHARS else "…" + package[-PACKAGE_CHARS + 1 :]


def _pair(served: int, wrong: int) -> tuple[int, Text]:
    return served, cell(wrong, "red" if wrong else "green")


def _fate(lift: Lift, name: str) -> Text:
    shown = [cell(status) for status in lift.statuses[name]]
    return Text.assemble(cell(name.removeprefix("pkg:golang/")), "  ", Text(" → ").join(shown))
