"""memory-semconv v0.1.0 as MemPalace, memU and MemOS write it: three scopes, and three sets of names."""

from capture.recorder import Recorder
from opentelemetry.trace import Status, StatusCode
from opentelemetry.util.types import AttributeValue

recorder = Recorder("memory_semconv")


def operation(scope: str, name: str, *, fails: bool = False, **attributes: AttributeValue) -> None:
    """A span `memory.NAME`; `_` in an attribute stands for a dot, `__` for an underscore."""
    named = {
        "memory." + key.replace("__", "|").replace("_", ".").replace("|", "_"): value
        for key, value in attributes.items()
    }
    with recorder.provider.get_tracer(scope).start_as_current_span(f"memory.{name}", attributes=named) as span:
        if fails:
            span.set_status(Status(StatusCode.ERROR, "RuntimeError"))


def mempalace(name: str, tool: str, **more: AttributeValue) -> None:
    """An MCP tool of MemPalace. No ids and no counts."""
    operation("mempalace", name, operation=name, tool=tool, **more)


def memu(name: str, verb: str, **more: AttributeValue) -> None:
    """An operation of memU."""
    operation("memu.observability", name, operation=verb, store_kind="sqlite", sut_name="memu", tenant="user-1", **more)


def memos(verb: str, **more: AttributeValue) -> None:
    """An operation of MemOS: `memory.add` and `memory.search`, not `memory.write` and `memory.read`."""
    ids = {"user_id": "user-1", "cube_id": "ops", "session_id": "incident-7"}
    operation("memos", verb, operation=verb, tier="textual", latency_ms=1.5, **ids, **more)


mempalace("write", "mempalace_add_drawer")
mempalace("read", "mempalace_search")
mempalace("invalidate", "mempalace_kg_invalidate")
mempalace("read", "mempalace_search", fails=True)
memu("write", "write", write_files__created=1, write_files__updated=0)
memu("read", "search", query_k=5, query_length=4, results_count=2, top__similarity=0.9)
memu("read", "search", query_k=5, query_length=7, results_count=0)
memos("add", item_count=1)
memos("search", query_text="pool", top__k=5, result_count=2)
memos("search", query_text="weather", top__k=5, result_count=0)
memos("delete")
recorder.write()
