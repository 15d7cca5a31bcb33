import re
from pathlib import Path
from time import monotonic, sleep

import pytest

from docs.conftest import Desk
from docs.pages import PAGES, Block, blocks, on_page
from weaklink_processor.sources import load_config
from weaklink_service import PATIENCE

TIME = re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}|\b[0-9a-f]{16}([0-9a-f]{16})?\b")
"""And ids of spans and traces, which are as long as their stand-in is not: neither is what a page shows."""
LANGUAGES = {"sh", "text", "python", "sql", "yaml"}

# What the page leaves to its reader: a ledger. It embeds without a model, so that nothing is downloaded.
MEMLEDGER = """
import asyncio, incident

async def main():
    ledger = await incident.Memledger.create(
        backend_name="sqlite",
        backend_config={"path": "ledger.db", "dimensions": incident.DIMENSIONS},
        embedding_dimensions=incident.DIMENSIONS,
    )
    ledger._embedder = incident.HashEmbedder()
    await work(ledger)
    await ledger.close()

asyncio.run(main())
provider.shutdown()
"""


def without_times(text: str) -> str:
    return TIME.sub("TIME", text).strip()


def test_every_block_is_of_a_kind_that_is_tested() -> None:
    """A fenced block names a language that some test here runs or checks, and a text block what a command prints."""
    for page in PAGES:
        found = on_page(page)
        assert {block.language for block in found} <= LANGUAGES, page
        assert sum(block.language == "text" for block in found) == sum(block.prints is not None for block in found)


@pytest.mark.parametrize("page", sorted({block.page for block in blocks("sh") if block.prints}))
def test_commands_print_what_the_page_shows(page: str, desk: Desk) -> None:
    """Followed in order, each command whose output is shown comes to print just that, but for times."""
    for block in on_page(page):
        if block.prints is None:
            continue
        deadline = monotonic() + PATIENCE
        expected = without_times(block.prints)
        while (printed := without_times(desk.run("sh", "-c", block.text))) != expected:
            assert monotonic() < deadline, f"{block} printed\n{printed}\nand not\n{expected}"
            sleep(0.2)


@pytest.mark.parametrize("block", blocks("sql"), ids=str)
def test_queries_run(block: Block, told: Desk) -> None:
    """Each query has an answer on the example's data."""
    told.service.query(block.text)


@pytest.mark.parametrize("block", blocks("python"), ids=str)
def test_python_runs(block: Block, told: Desk) -> None:
    """Each program runs to its end."""
    prelude, sequel = "import warnings; warnings.simplefilter('ignore')\n", MEMLEDGER if block.needs else ""
    told.run(".venv/bin/python", "-c", prelude + block.text + sequel)


def test_the_programs_of_instrument_make_chains(desk: Desk) -> None:
    """What docs/instrument.md writes arrives with its confidence, author and parent."""
    for block in on_page("docs/instrument.md"):
        if block.language == "python":
            desk.run(".venv/bin/python", "-c", block.text + (MEMLEDGER if block.needs else ""))
    query = """
        SELECT agent_id, declared_confidence, effective_confidence, len(parent_ids) FROM memories
        WHERE declared_confidence BETWEEN 0.8 AND 0.85 ORDER BY declared_confidence, effective_confidence DESC
    """
    expected = [("scribe", 0.8, 0.3, 1), ("diagnosis", 0.85, 0.85, 1), ("diagnosis", 0.85, 0.3, 1)]
    deadline = monotonic() + PATIENCE
    while (found := desk.service.query(query)) != expected:
        assert monotonic() < deadline, found
        sleep(0.2)


@pytest.mark.parametrize("block", blocks("yaml"), ids=str)
def test_settings_are_settings(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A settings file that a page shows is one that weaklink takes, where the files that it names are."""
    monkeypatch.chdir(tmp_path)
    for name in re.findall(r"[\w-]+\.pem", block.text):
        (tmp_path / name).touch()
    file = tmp_path / "weaklink.yaml"
    file.write_text(block.text)
    load_config(file, {}, {})
