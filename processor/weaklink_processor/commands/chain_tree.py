"""How an ancestry is printed: a tree, and one line that names its weakest link."""

from collections import deque
from itertools import chain

from rich.text import Text
from rich.tree import Tree

from weaklink_analysis.printable import printable
from weaklink_processor.commands.ancestry import Ancestry, Key

__all__ = ["LEVELS", "LINES", "printable", "tree", "weakest_link"]

LINES = 200
LEVELS = 40
"""What a person reads of a tree: so many lines at most, and so many generations."""

_STYLES = {"PASS": "green", "FLAG": "yellow", "FILTER": "red"}


def tree(ancestry: Ancestry) -> Tree:
    """Draw the root and its nearest ancestors; a version met again is named, and not drawn a second time.

    Nearest first, and where the room ends a last line says how many ancestors are not drawn.
    """
    root = Tree(_label(ancestry, ancestry.root))
    drawn, named = {ancestry.root}, {ancestry.root}
    room = LINES - 1
    pending: deque[tuple[Tree, Key, tuple[Key, ...]]] = deque([(root, ancestry.root, (ancestry.root,))])
    while pending:
        branch, key, path = pending.popleft()
        for parent in ancestry.parents.get(key, [])[:room]:
            room -= 1
            named.add(parent)
            label = _label(ancestry, parent)
            if parent in drawn:
                label.append("  (a cycle)" if parent in path else "  (drawn elsewhere)", "dim")
            twig = branch.add(label)
            if parent.version and parent not in drawn:
                drawn.add(parent)
                if len(path) < LEVELS:
                    pending.append((twig, parent, (*path, parent)))
    more = len(set(chain(ancestry.versions, *ancestry.parents.values())) - named)
    if more:
        root.add(Text(f"and {more:,} more; all are in {_every(ancestry.root)}", "dim"))
    return root


def weakest_link(ancestry: Ancestry) -> str:
    """Say which memory bounds the root's confidence."""
    root = ancestry.versions[ancestry.root]
    if root.weakest_id is None:
        return "weakest link: unknown"
    name = printable(root.weakest_id)
    bound = f"effective confidence {_number(root.effective_confidence)}"
    own = " (itself)" if root.weakest_id == ancestry.root.memory_id else ""
    return f"weakest link: {name}{own}, {bound}"


def _every(key: Key) -> str:
    """Return what SQL calls the whole ancestry."""
    id_, environment, store = (
        "'" + printable(text).replace("'", "''") + "'" for text in (key.memory_id, key.environment, key.store)
    )
    return f"chain_of({id_}, environment := {environment}, store := {store})"


def _label(ancestry: Ancestry, key: Key) -> Text:
    if key not in ancestry.versions:
        return Text.assemble((printable(key.memory_id), "bold"), ("  unresolved: not written or read here", "dim"))
    version = ancestry.versions[key]
    flag = version.confidence_flag or "-"
    label = Text.assemble(
        (printable(key.memory_id), "bold"),
        f"  version {key.version}",
        f"  by {printable(version.agent_id)}" if version.agent_id else "  by nobody known",
        f"  declared {_number(version.declared_confidence)}",
        f"  effective {_number(version.effective_confidence)}",
        "  ",
        (flag, _STYLES.get(flag, "")),
        f"  {version.written_at:%Y-%m-%d %H:%M:%S}" if version.written_at else "",
    )
    root = ancestry.versions[ancestry.root]
    if (key.memory_id, version.declared_confidence) == (root.weakest_id, root.effective_confidence):
        label.append("  <- weakest link", "bold red")
    return label


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
