"""JSON has no NaN and no infinity, which DuckDB writes as words: they become null, as in JavaScript and pandas."""

import duckdb
from duckdb.sqltypes import DuckDBPyType


def finite(result: duckdb.DuckDBPyRelation) -> str:
    """Return the query of a result by this name, in which each number that JSON has no form for is null."""
    replaced = []
    for name, kind in zip(result.columns, result.types, strict=True):
        column = _quoted(name)
        if (value := _finite(column, kind)) != column:
            replaced.append(f"{value} AS {column}")
    return f"FROM result SELECT * REPLACE ({', '.join(replaced)})" if replaced else "FROM result"


def _finite(value: str, kind: DuckDBPyType, depth: int = 0) -> str:
    match kind.id:
        case "double" | "float":
            return f"CASE WHEN isfinite({value}) THEN {value} END"
        case "list" | "array":
            each = f"each{depth}"
            own = _finite(each, dict(_children(kind))["child"], depth + 1)
            return value if own == each else f"list_transform({value}, lambda {each}: {own})"
        case "map":
            values = f"map_values({value})"
            own = _finite(values, duckdb.list_type(dict(_children(kind))["value"]), depth)
            made = f"CASE WHEN {value} IS NOT NULL THEN map(map_keys({value}), {own}) END"
            return value if own == values else made
        case "struct" | "tuple":
            children = _children(kind)
            names = [name for name, _ in children]
            keys = map(_literal, names) if kind.id == "struct" else range(1, len(names) + 1)
            fields = [f"struct_extract({value}, {key})" for key in keys]
            own_fields = [_finite(field, child, depth) for field, (_, child) in zip(fields, children, strict=True)]
            packed = (f"{_quoted(name)} := {own}" if name else own for name, own in zip(names, own_fields, strict=True))
            pack = "struct_pack" if kind.id == "struct" else "row"
            made = f"CASE WHEN {value} IS NOT NULL THEN {pack}({', '.join(packed)}) END"
            return value if own_fields == fields else made
        case "union":
            return _finite_union(value, kind, depth)
    return value


def _finite_union(value: str, kind: DuckDBPyType, depth: int) -> str:
    whens = ""
    for tag, child in _children(kind):
        member = f"union_extract({value}, {_literal(tag)})"
        if (own := _finite(member, child, depth)) != member:
            whens += f" WHEN {_literal(tag)} THEN CAST(union_value({_quoted(tag)} := {own}) AS {kind})"
    return f"CASE union_tag({value}){whens} ELSE {value} END" if whens else value


def _children(kind: DuckDBPyType) -> list[tuple[str, DuckDBPyType]]:
    return [(name, child) for name, child in kind.children if isinstance(child, DuckDBPyType)]


def _literal(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
