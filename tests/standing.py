"""What stands on a memory, by walking over the oracle's objects."""

from collections import defaultdict

import oracle

Standing = set[tuple[str, str, int, str]]
"""Kind, id, hop, trace id: rows of impact_of without their times."""


def affected(world: oracle.Oracle, memory: oracle.Memory) -> dict[oracle.Version, int]:
    """All versions of a memory, and all that were derived from one -> fewest derivations between."""
    children: dict[oracle.Version, list[oracle.Version]] = defaultdict(list)
    for child in world.all_versions:
        for parent in child.parents:
            children[parent].append(child)
    found, level = dict.fromkeys(world.versions[memory], 0), set(world.versions[memory])
    while level := {child for version in level for child in children[version]} - found.keys():
        found |= dict.fromkeys(level, max(found.values()) + 1)
    return found


def standing(world: oracle.Oracle, memory: oracle.Memory) -> Standing:
    """These versions, the spans that read one, and the decisions that relied on one, at their fewest hops."""
    hops = affected(world, memory)
    users: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for op in world.ops:
        if op.operation == "read" and op.version in hops:
            users["read", f"{op.spot.s.span:016x}", f"{op.spot.s.trace:032x}"].append(hops[op.version])
    for d in world.decisions:
        for _, version in d.relied:
            if version in hops:
                users["decision", f"{d.spot.s.span:016x}", f"{d.spot.s.trace:032x}"].append(hops[version])
    versions = {("version", f"{v.memory[2]}@{v.number}", hop, f"{v.op.spot.s.trace:032x}") for v, hop in hops.items()}
    return versions | {(kind, span, min(found), trace) for (kind, span, trace), found in users.items()}
