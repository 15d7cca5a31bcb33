import fnmatch
import re
import subprocess
import sys
from pathlib import Path

from deploy.files import PROJECT, ROOT, health_check, image_environment, instructions, last_stage
from weaklink_processor.config import host_port
from weaklink_service import Service

DEVELOPMENT = ("--editable ", " --group dev")  # what the Makefile adds: the source in place, and the tools


def makefile_steps() -> list[str]:
    """The pip branch of the Makefile's installation, as commands."""
    text = (ROOT / "Makefile").read_text("utf-8").replace("$(BIN)", ".venv/bin").replace("$(VENV)", ".venv")
    (branch,) = re.findall(r"^\telse \\\n(.*?)^\tfi", text, re.MULTILINE | re.DOTALL)
    steps = [line.strip(" \t;\\") for line in branch.splitlines()]
    return [re.sub(r'^\[ -x \S+ \] \|\| "\$\$python"', "python3", step) for step in steps]


def run_steps() -> list[str]:
    first = instructions()[: -len(last_stage())]
    return [rest for word, rest in first if word == "RUN"]


def test_the_image_is_installed_as_the_makefile_installs() -> None:
    """The same steps, without what only development needs."""
    steps = makefile_steps()
    for addition in DEVELOPMENT:
        assert any(addition in step for step in steps)
        steps = [step.replace(addition, "") for step in steps]
    assert run_steps() == steps


def test_all_that_an_installation_needs_is_copied() -> None:
    """Sources, readme and licence that pyproject.toml names come into the build, and .dockerignore lets them pass."""
    copied = {
        path for word, rest in instructions() if word == "COPY" and "--from" not in rest for path in rest.split()[:-1]
    }
    project, wheel = PROJECT["project"], PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    sources = {Path(package).parts[0] for package in wheel["packages"]}
    assert copied == {"pyproject.toml", project["readme"], *project["license-files"], *sources}
    ignore = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    passed = [line[1:] for line in ignore if line.startswith("!")]
    assert [path for path in copied if not any(fnmatch.fnmatch(path, pattern) for pattern in passed)] == []


def test_it_is_built_in_one_stage_and_run_in_another() -> None:
    """Only the virtual environment goes over, to the path that it was made at."""
    assert [word for word, _ in instructions()].count("FROM") == 2
    (workdir,) = [rest for word, rest in instructions()[: -len(last_stage())] if word == "WORKDIR"]
    assert [rest for word, rest in last_stage() if word == "COPY"] == [f"--from=build {workdir}/.venv {workdir}/.venv"]
    assert image_environment()["PATH"].startswith(f"{workdir}/.venv/bin:")


def test_it_does_not_run_as_root() -> None:
    """It runs as a numbered user, to whom the data folder belongs, from the first process on."""
    words = [word for word, _ in last_stage()]
    (user,) = [rest for word, rest in last_stage() if word == "USER"]
    uid, gid = user.split(":")
    assert int(uid) > 0 < int(gid)
    assert words.index("USER") < words.index("ENTRYPOINT")
    (prepared,) = [rest for word, rest in last_stage() if word == "RUN"]
    assert f"-o {uid} -g {gid} " in prepared
    assert prepared.endswith(image_environment()["WEAKLINK_DATA_DIR"])
    assert ("VOLUME", image_environment()["WEAKLINK_DATA_DIR"]) in last_stage()


def test_it_serves_beyond_the_container() -> None:
    """Both ports are bound to all interfaces, and declared."""
    endpoints = [image_environment()[f"WEAKLINK_RECEIVER__{protocol}__ENDPOINT"] for protocol in ("GRPC", "HTTP")]
    assert {host_port(endpoint)[0] for endpoint in endpoints} == {"0.0.0.0"}  # noqa: S104  a container's
    (exposed,) = [rest for word, rest in last_stage() if word == "EXPOSE"]
    assert exposed.split() == [str(host_port(endpoint)[1]) for endpoint in endpoints]
    assert last_stage()[-2:] == [("ENTRYPOINT", '["weaklink"]'), ("CMD", '["serve"]')]


def test_the_health_check_tells(tmp_path: Path) -> None:
    """Its command succeeds while a service is ready, past a proxy that does not answer, and fails when it has gone."""
    python, *arguments = health_check()
    assert python == "python"
    address = f"127.0.0.1:{host_port(image_environment()['WEAKLINK_RECEIVER__HTTP__ENDPOINT'])[1]}"
    with Service(tmp_path / "data") as service:
        command = [sys.executable, *(argument.replace(address, service.http) for argument in arguments)]
        assert command[-1] != arguments[-1]
        proxied = {"http_proxy": "http://127.0.0.1:9"}
        assert subprocess.run(command, env=proxied, capture_output=True, timeout=20, check=False).returncode == 0
    assert subprocess.run(command, capture_output=True, timeout=20, check=False).returncode != 0
