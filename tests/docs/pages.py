"""The documentation as tests see it: pages, and the fenced blocks in them."""

import re
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]
PAGES = {
    str(path.relative_to(ROOT)): path.read_text("utf-8")
    for path in [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "docker" / "README.md", *ROOT.glob("docs/*.md")]
}
_FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    page: str
    line: int
    language: str
    needs: str  # what the info string says after the language
    text: str
    prints: str | None  # the text block that follows a shell block at once

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(language: str) -> list[Block]:
    return [block for page in sorted(PAGES) for block in on_page(page) if block.language == language]


def on_page(page: str) -> list[Block]:
    text = PAGES[page]
    fences = list(_FENCE.finditer(text))
    return [_block(page, fence, following) for fence, following in zip_longest(fences, fences[1:])]


def _block(page: str, fence: re.Match[str], following: re.Match[str] | None) -> Block:
    text = PAGES[page]
    language, _, needs = fence["info"].partition(" ")
    adjacent = following and following["info"] == "text" and not text[fence.end() : following.start()].strip()
    return Block(
        page=page,
        line=text.count("\n", 0, fence.start()) + 1,
        language=language,
        needs=needs,
        text=dedent(fence["text"]),
        prints=dedent(following["text"]) if following and adjacent else None,
    )
