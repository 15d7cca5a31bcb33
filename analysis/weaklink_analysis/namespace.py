"""Environments where those of one name in two namespaces are two: `namespace/environment`, `/environment` in none."""

import pyarrow as pa
import pyarrow.compute as pc

_WITHIN, _ESCAPED = "/", "%2F"


def joined(namespaces: pa.StringArray, environments: pa.StringArray) -> pa.StringArray:
    """The environments of these namespaces ('' for none)."""
    return pc.binary_join_element_wise(pc.replace_substring(namespaces, _WITHIN, _ESCAPED), environments, _WITHIN)


def split(environment: str) -> tuple[str, str]:
    """The namespace, and its environment, of what `joined` made; one of spans from before that has none."""
    namespace, within, name = environment.partition(_WITHIN)
    return (namespace.replace(_ESCAPED, _WITHIN), name) if within else ("", environment)
