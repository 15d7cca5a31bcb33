"""Build the documentation as a site, into site/: gather the repository's pages in .site/, then run MkDocs on them.

    python tools/build_site.py [serve]

MkDocs knows one folder of pages. The repository has some elsewhere, and links from pages to files; so pages are
copied to one folder, and links are made to fit. A dead link, or a heading that a link does not find, fails the build.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
GATHERED = ROOT / ".site"  # docs_dir of mkdocs.yml
PAGES = {
    **{f"docs/{path.name}": path.name for path in sorted(ROOT.glob("docs/*.md"))},
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "bench/README.md": "benchmarks.md",
    "docker/README.md": "containers.md",
}
"""Pages of the repository, and what they are called on the site."""
QUIET = {"NO_MKDOCS_2_WARNING": "1"}
"""The theme advertises its successor; docs/dependencies.md says why it is not used."""

_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<path>[^)\s#:]+)(?P<anchor>#[^)\s]*)?\)")
_README = re.compile(r"<!-- README\.md, (?P<part>.+) -->")
_INFO = re.compile(r"^(?P<fence> *```\w+) [^\n`]+$", re.MULTILINE)


def gather(folder: Path) -> None:
    """Put the site's pages, pictures and the files that pages link to into a new folder."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder, ignore=shutil.ignore_patterns("*.md"))
    for page, name in PAGES.items():
        if page != "README.md":
            (folder / name).write_text(_for_site(page, (ROOT / page).read_text("utf-8"), folder), "utf-8")


def _for_site(page: str, text: str, folder: Path) -> str:
    """A page's text as the site has it; files that it links to are copied into the folder."""

    def link(found: re.Match[str]) -> str:
        target = Path(os.path.normpath((ROOT / page).parent / found["path"]))
        if target.is_dir():
            return found["text"]  # a site has no page of a folder
        if not target.exists():
            return found[0]  # MkDocs tells of it
        place = _place(target.relative_to(ROOT).as_posix(), folder)
        return f"[{found['text']}]({place}{found['anchor'] or ''})"

    linked = _INFO.sub(r"\g<fence>", _LINK.sub(link, text))
    return _README.sub(lambda found: _readme(found["part"], folder), linked)


def _place(name: str, folder: Path) -> str:
    """Where a file of the repository is on the site, seen from any page."""
    if name in PAGES:
        return PAGES[name]
    if name.startswith("docs/"):
        return name.removeprefix("docs/")
    copy = folder / "files" / name
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / name, copy)
    return f"files/{name}"


def _readme(part: str, folder: Path) -> str:
    """What README.md has before its first section (`introduction`), or one of its sections."""
    introduction, *sections = re.split(r"^## ", (ROOT / "README.md").read_text("utf-8"), flags=re.MULTILINE)
    parts = {"introduction": introduction} | {section.partition("\n")[0]: f"## {section}" for section in sections}
    return _for_site("README.md", parts[part].strip(), folder)


def main() -> int:
    """Build the site, or serve it at http://localhost:8000 until Ctrl-C."""
    gather(GATHERED)
    arguments = sys.argv[1:] or ["build", "--strict"]
    command = [sys.executable, "-m", "mkdocs", *arguments]
    return subprocess.run(command, cwd=ROOT, env=os.environ | QUIET, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
