import pytest

from deploy.files import COMPOSE, ROOT, collector_variables, image_environment
from weaklink_processor.config import host_port
from weaklink_processor.sources import env_name, load_config, settings

SERVICES = COMPOSE["services"]
WEAKLINK, COLLECTOR, PHOENIX = (SERVICES[name] for name in ("weaklink", "collector", "phoenix"))
CONDITIONS = {"service_healthy", "service_completed_successfully"}


def port(endpoint: str) -> int:
    return host_port(endpoint)[1]


def test_weaklink_is_set_by_settings_that_exist() -> None:
    """Every WEAKLINK_ variable of the image and of compose is a setting, and its value is taken."""
    environment = image_environment() | WEAKLINK["environment"]
    given = {name: value for name, value in environment.items() if name.startswith("WEAKLINK_")}
    assert set(given) <= {env_name(key) for key in settings()}
    config = load_config(None, given, {})
    assert config.forward.url == "http://collector:24317"
    assert str(config.data_dir) == "/data"


def test_the_collector_is_set_by_its_variables() -> None:
    """Every variable given to the Collector occurs in its configuration."""
    assert set(COLLECTOR["environment"]) <= set(collector_variables())


def test_each_hop_meets_the_next() -> None:
    """The Collector sends to weaklink, weaklink to the Collector's second receiver, and that to Phoenix."""
    variables, image = COLLECTOR["environment"], image_environment()
    assert variables["TO_WEAKLINK_ENDPOINT"] == f"weaklink:{port(image['WEAKLINK_RECEIVER__GRPC__ENDPOINT'])}"
    forward = WEAKLINK["environment"]["WEAKLINK_FORWARD__ENDPOINT"]
    assert forward == f"collector:{port(variables['FROM_WEAKLINK_ENDPOINT'])}"
    assert variables["BACKEND_ENDPOINT"] == "phoenix:4317"


def test_the_collector_listens_beyond_its_container() -> None:
    """What is published, and what weaklink sends to, is bound to all of the container's interfaces."""
    variables = COLLECTOR["environment"]
    listens = [variables[name] for name in variables if name.startswith(("AGENTS_", "FROM_", "HEALTH_"))]
    assert {host_port(endpoint)[0] for endpoint in listens} == {"0.0.0.0"}  # noqa: S104  a container's
    published = {int(mapping.rpartition(":")[2]) for mapping in COLLECTOR["ports"]}
    assert published == {port(endpoint) for endpoint in listens} - {port(variables["FROM_WEAKLINK_ENDPOINT"])}


@pytest.mark.parametrize("name", SERVICES)
def test_ports_are_published_on_loopback_only(name: str) -> None:
    """Nothing here asks for a password."""
    assert all(mapping.startswith("127.0.0.1:") for mapping in SERVICES[name].get("ports", []))


@pytest.mark.parametrize("name", SERVICES)
def test_what_is_waited_for_is_there(name: str) -> None:
    """A service waits for others to be healthy or done; who must be healthy has a health check."""
    for other, how in SERVICES[name].get("depends_on", {}).items():
        assert how["condition"] in CONDITIONS
        if how["condition"] == "service_healthy":
            assert "healthcheck" in SERVICES[other] or "build" in SERVICES[other]  # the image brings one


@pytest.mark.parametrize("name", SERVICES)
def test_volumes_are_named_or_files_of_ours(name: str) -> None:
    """A volume is declared below, or is a file or folder of the repository that is mounted read-only."""
    for mount in SERVICES[name].get("volumes", []):
        source, _, rest = mount.partition(":")
        if source.startswith("."):
            assert (ROOT / "docker" / source).exists()
            assert rest.endswith(":ro")
        else:
            assert source in COMPOSE["volumes"]


def test_data_lies_in_volumes() -> None:
    """weaklink's data, the Collector's queue and Phoenix's database outlive their containers."""
    assert f"weaklink-data:{image_environment()['WEAKLINK_DATA_DIR']}" in WEAKLINK["volumes"]
    folder = COLLECTOR["volumes"][-1].partition(":")[2]
    assert COLLECTOR["environment"]["QUEUE_DIRECTORY"].startswith(f"{folder}/")
    assert f"phoenix-data:{PHOENIX['environment']['PHOENIX_WORKING_DIR']}" in PHOENIX["volumes"]


def test_the_image_is_built_from_here() -> None:
    """The build's context is the repository's root."""
    build = WEAKLINK["build"]
    context = (ROOT / "docker" / build["context"]).resolve()
    assert context == ROOT
    assert (context / build["dockerfile"]).is_file()


def test_there_is_time_to_drain() -> None:
    """weaklink is gone within 10 s; it is given more before it is killed."""
    assert int(WEAKLINK["stop_grace_period"].removesuffix("s")) > 10
