"""Environments where those of one name in two namespaces are two: `namespace/environment`, `/environment` in none."""

import pyarrow as pa
import pyarrow.compute as pc

_WITHIN = "/"
_ESCAPES = (("%", "%25"), (_WITHIN, "%2F"))
"""What a namespace may not have, and what stands for it; in this order."""


def joined(namespaces: pa.StringArray, environments: pa.StringArray) -> pa.StringArray:
    """The environments of these namespaces ('' for none)."""
    for plain, escape in _ESCAPES:
        namespaces = pc.replace_substring(namespaces, plain, escape)
    return pc.binary_join_element_wise(namespaces, environments, _WITHIN)


def split(environment: str) -> tuple[str, str]:
    """The namespace, and its environment, of what `joined` made; one of spans from before that has none."""
    namespace, within, name = environment.partition(_WITHIN)
    for plain, escape in reversed(_ESCAPES):
        namespace = namespace.replace(escape, plain)
    return (namespace, name) if within else ("", environment)
