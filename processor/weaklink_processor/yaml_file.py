"""Reads YAML in which a mapping has each key once, as YAML 1.2.2 (3.2.1.3) demands and PyYAML does not."""

from dataclasses import dataclass
from typing import IO, Any

import yaml

_MERGE = "tag:yaml.org,2002:merge"


@dataclass(frozen=True, slots=True)
class Repeated:
    """A key that a mapping has more than once; lines count from 1."""

    key: str
    first: int
    again: int


def read_yaml(file: IO[str]) -> tuple[object, list[Repeated]]:
    """Return what the file says, and the keys of which it says two things.

    Raises:
        yaml.YAMLError: it is no YAML. The message shows nothing of the file, which may hold secrets.
    """
    loader = _Loader(file)
    try:
        return loader.get_single_data(), loader.repeated
    finally:
        loader.dispose()


class _Loader(yaml.SafeLoader):
    def __init__(self, file: IO[str]) -> None:
        super().__init__(file)
        self.repeated: list[Repeated] = []

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        # Here and not where mappings are constructed: what `<<` brings in is put among the node's own keys by then.
        node = super().compose_mapping_node(anchor)
        seen: dict[tuple[str, str], int] = {}
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode) and key.tag != _MERGE):
            line, name = key.start_mark.line + 1, (key.tag, key.value)
            if name in seen:
                self.repeated.append(Repeated(key.value, seen[name], line))
            seen.setdefault(name, line)
        return node
