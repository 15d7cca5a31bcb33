"""When a service has caught up: its tables are those of an undisturbed run of the same requests."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from shell import printed
from weaklink_processor.queue import framing
from weaklink_service import Publication, Service, publication, tables, wait_until

Tables = Mapping[str, Sequence[tuple[object, ...]]]


def undisturbed(requests: Sequence[bytes], folder: Path) -> Tables:
    """The tables of a run that nothing disturbs: the requests from a file, each trace judged once all have come."""
    file = folder / "requests.binpb"
    file.write_bytes(framing.join(requests))
    printed("replay", file, "--data-dir", folder / "undisturbed")
    return tables(folder / "undisturbed")


def wait_for_tables(service: Service, expected: Tables, patience: float = 30) -> None:
    """Return once the service's tables equal these; the first table that never does is shown."""

    seen: Publication | None = None

    def caught_up() -> bool:
        nonlocal seen
        before, seen = seen, publication(service.data_dir)  # what was published before is not read again
        return seen != before and tables(service.data_dir) == expected

    try:
        wait_until(caught_up, "equal tables", patience)
    except AssertionError:
        assert_equal(tables(service.data_dir), expected)


def assert_equal(found: Tables, expected: Tables) -> None:
    """Tables are equal, one by one, so that a difference is readable."""
    for name, rows in expected.items():
        wanted, there = Counter(map(repr, rows)), Counter(map(repr, found[name]))
        missing, added = wanted - there, there - wanted
        shown = list(missing)[:3], list(added)[:3]
        assert shown == ([], []), f"{name}: {missing.total()} rows missing, {added.total()} added"
    assert found == expected
