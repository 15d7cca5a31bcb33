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
            own = _finite(each, _children(kind)["child"], depth + 1)
            return value if own == each else f"list_transform({value}, lambda {each}: {own})"
        case "map":
            values = f"map_values({value})"
            own = _finite(values, duckdb.list_type(_children(kind)["value"]), depth)
            made = f"CASE WHEN {value} IS NOT NULL THEN map(map_keys({value}), {own}) END"
            return value if own == values else made
        case "struct":
            children = _children(kind)
            fields = {name: f"struct_extract({value}, {_literal(name)})" for name in children}
            finite_fields = {name: _finite(fields[name], child, depth) for name, child in children.items()}
            packed = ", ".join(f"{_quoted(name)} := {field}" for name, field in finite_fields.items())
            made = f"CASE WHEN {value} IS NOT NULL THEN struct_pack({packed}) END"
            return value if finite_fields == fields else made
    return value


def _children(kind: DuckDBPyType) -> dict[str, DuckDBPyType]:
    return {name: child for name, child in kind.children if isinstance(child, DuckDBPyType)}


def _literal(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
