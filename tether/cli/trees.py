"""Trees of derivations: what something rests on, and what rests on it."""

from typing import TYPE_CHECKING

from rich.text import Text
from rich.tree import Tree

from tether.cli.show import STYLES, cell, evidence_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tether_schemas.answers import Cause, Dependent, Why

GUIDE = "dim"


def why_tree(found: "Why", limit: int) -> Tree:
    """The asked slot, and below it the path to each cause; paths that begin alike share their branches."""
    head = cell(f"{found.subject} {found.predicate}", "bold")
    tree = Tree(_joined(head, cell(found.answer.status)), guide_style=GUIDE)
    if not found.causes:
        tree.add(cell(found.answer.reason))
    branches: dict[tuple[str, ...], Tree] = {(): tree}
    for cause in found.causes[:limit]:
        _leaf(_branch(branches, cause, found.subject), cause)
    return tree


def _branch(branches: dict[tuple[str, ...], Tree], cause: "Cause", subject: str) -> Tree:
    """Where the path of a cause ends; what is missing on the way is made."""
    walked: tuple[str, ...] = ()
    said = None
    for step in cause.path:
        if step.node != subject or walked:
            parent, walked = branches[walked], (*walked, step.node)
            if walked not in branches:
                branches[walked] = parent.add(_premise(step.node, evidence_text(said) if said else ""))
        said = step.evidence
    return branches[walked]


def _premise(node: str, said: str) -> Text:
    return _joined(cell(node), cell(f"({said})", "dim") if said else Text())


def _leaf(branch: Tree, cause: "Cause") -> None:
    possible = "possible " if cause.possible else ""
    said = cell(f"({evidence_text(cause.evidence)})", "dim") if cause.evidence else Text()
    branch.add(_joined(cell(f"{possible}{cause.kind}", STYLES["failed"]), cell(cause.detail), said))


def _joined(*parts: Text) -> Text:
    return Text(" ", overflow="fold").join(part for part in parts if part.plain)


def dependents_tree(found: "Sequence[Dependent]") -> list[Tree]:
    """What was asked for, and below it what derives from it; one tree for each version of what was asked for."""
    branches: dict[tuple[str, ...], Tree] = {}
    roots: list[Tree] = []
    down = {one.path: one.down for one in found}
    for one in found:
        for start in range(len(one.path) - 1, -1, -1):
            path = one.path[start:]
            if path in branches:
                continue
            label = _joined(cell(path[0]), cell("down") if down.get(path) else Text())
            if len(path) == 1:
                branches[path] = Tree(label, guide_style=GUIDE)
                roots.append(branches[path])
            else:
                branches[path] = branches[path[1:]].add(label)
    return roots
