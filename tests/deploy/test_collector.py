import re
from collections.abc import Iterator

import pytest

from collector.build import MANIFEST, version
from deploy.files import COLLECTOR, ROOT, VARIABLE, collector_variables
from weaklink_processor.config import Config, host_port
from weaklink_processor.sources import ENV_PREFIX, load_config

PIPELINES = COLLECTOR["service"]["pipelines"]
KINDS = ("receivers", "processors", "exporters")
EXPORTERS = COLLECTOR["exporters"]


def resolved(text: str) -> str:
    return VARIABLE.sub(lambda found: found[2], text)


def listening() -> dict[str, str]:
    """Endpoint -> the receiver that listens there."""
    return {
        resolved(protocol["endpoint"]): name
        for name, receiver in COLLECTOR["receivers"].items()
        for protocol in receiver["protocols"].values()
    }


def used(kind: str) -> set[str]:
    return {name for pipeline in PIPELINES.values() for name in pipeline[kind]}


@pytest.mark.parametrize("kind", KINDS)
def test_what_pipelines_name_is_defined_and_the_reverse(kind: str) -> None:
    """A component that no pipeline names would be dead, and one that is not defined stops the Collector."""
    assert used(kind) == set(COLLECTOR[kind])


def test_extensions_are_defined_and_the_reverse() -> None:
    """The same holds for extensions."""
    assert set(COLLECTOR["service"]["extensions"]) == set(COLLECTOR["extensions"])


def test_nothing_goes_round() -> None:
    """No receiver or exporter is in two pipelines, and nothing is sent to an endpoint of the Collector itself."""
    for kind in ("receivers", "exporters"):
        names = [name for pipeline in PIPELINES.values() for name in pipeline[kind]]
        assert len(names) == len(set(names))
    assert {resolved(exporter["endpoint"]) for exporter in EXPORTERS.values()}.isdisjoint(listening())


def test_the_pipelines_meet_in_weaklink_only() -> None:
    """What agents send goes to weaklink and nowhere else; what weaklink sends on goes to the backend."""
    assert PIPELINES["traces/in"] == {
        "receivers": ["otlp/agents"],
        "processors": ["memory_limiter"],
        "exporters": ["otlp_grpc/weaklink"],
    }
    assert PIPELINES["traces/out"] == {
        "receivers": ["otlp/weaklink"],
        "processors": ["memory_limiter"],
        "exporters": ["otlp_grpc/backend"],
    }


def test_memory_is_limited_first() -> None:
    """A limit that comes after other processors comes too late."""
    assert {pipeline["processors"][0] for pipeline in PIPELINES.values()} == {"memory_limiter"}
    limiter = COLLECTOR["processors"]["memory_limiter"]
    assert 0 < limiter["spike_limit_mib"] < limiter["limit_mib"]


@pytest.mark.parametrize("name", EXPORTERS)
def test_what_was_acknowledged_is_kept(name: str) -> None:
    """Each exporter queues on disk, fsynced, in batches that any gRPC server takes, and never gives up."""
    queue, retry = EXPORTERS[name]["sending_queue"], EXPORTERS[name]["retry_on_failure"]
    storage = COLLECTOR["extensions"][queue["storage"]]
    assert (storage["fsync"], storage["create_directory"]) == (True, True)
    assert storage["compaction"]["directory"] == storage["directory"]
    assert (retry["enabled"], retry["max_elapsed_time"]) == (True, "0s")
    batch = queue["batch"]
    assert queue["sizer"] == "bytes"
    assert 0 < batch["min_size"] < batch["max_size"] < 4 * 1024 * 1024 < queue["queue_size"]


def test_receivers_take_what_weaklink_takes() -> None:
    """A request that weaklink would take is not refused on the way there, nor on the way out."""
    limits = [receiver["protocols"]["grpc"]["max_recv_msg_size_mib"] for receiver in COLLECTOR["receivers"].values()]
    assert set(limits) == {Config().receiver.grpc.max_recv_msg_size_mib}


def endpoints() -> Iterator[str]:
    yield from listening()
    yield from (resolved(exporter["endpoint"]) for exporter in EXPORTERS.values())
    yield resolved(COLLECTOR["extensions"]["health_check"]["endpoint"])


def test_the_defaults_fit_on_one_machine() -> None:
    """All default endpoints are on loopback, each with a port of its own."""
    found = [host_port(endpoint) for endpoint in endpoints()]
    assert {host for host, _ in found} == {"127.0.0.1"}
    assert len({port for _, port in found}) == len(found)


def test_the_command_of_the_page_fits_the_defaults() -> None:
    """docs/collector.md starts weaklink where the Collector sends to, and lets it send where the Collector listens."""
    page = (ROOT / "docs" / "collector.md").read_text("utf-8")
    (line,) = [line.split() for line in page.splitlines() if line.strip().startswith("weaklink serve")]
    flags = dict(zip(line[2::2], line[3::2], strict=True))
    variables = collector_variables()
    assert flags["--grpc"] == variables["TO_WEAKLINK_ENDPOINT"]
    assert flags["--forward"] == variables["FROM_WEAKLINK_ENDPOINT"]
    assert flags["--http"] not in set(endpoints())


def test_the_version_of_the_page_is_the_tested_one() -> None:
    """docs/collector.md names the release that is built for tests, and its parts are of one release."""
    page = (ROOT / "docs" / "collector.md").read_text("utf-8")
    assert f"Tests run it with {version()}" in page
    releases = set(re.findall(r"gomod: \S+ v(0\.\S+)", MANIFEST.read_text("utf-8")))
    assert releases == {version()}


def test_every_variable_is_told() -> None:
    """docs/collector.md has each variable with its default."""
    page = (ROOT / "docs" / "collector.md").read_text("utf-8")
    for name, default in collector_variables().items():
        assert f"| `{name}` | `{default}` |" in page


def test_the_variables_are_no_settings_of_weaklink() -> None:
    """Exported in one shell for both, none of them stops weaklink."""
    variables = collector_variables()
    assert not [name for name in variables if name.startswith(ENV_PREFIX)]
    assert load_config(None, variables, {}) == Config()


def test_the_forward_endpoint_is_one() -> None:
    """weaklink takes the Collector's second receiver as its forward endpoint."""
    endpoint = collector_variables()["FROM_WEAKLINK_ENDPOINT"]
    assert load_config(None, {}, {"--forward": endpoint}).forward.url == f"http://{endpoint}"
