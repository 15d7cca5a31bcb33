import re
from pathlib import Path

from docs.pages import on_page
from inner_pytest import errors, run_pytest, without_ids

PAGE = "docs/pytest.md"


def test_the_tests_of_the_page_do_what_it_says(tmp_path: Path) -> None:
    """Saved as one file, the first test fails with the message that is shown, and all others pass."""
    programs = [block.text for block in on_page(PAGE) if block.language == "python"]
    (tmp_path / "test_agents.py").write_text("\n".join(programs))
    said = run_pytest(tmp_path, "-v")
    outcomes = re.findall(r"::(test_\w+) ([A-Z]+)", said)
    assert len(outcomes) == "".join(programs).count("def test_")
    assert [name for name, outcome in outcomes if outcome != "PASSED"] == ["test_a_guess_is_acted_on"], said
    (shown,) = [block.prints for block in on_page(PAGE) if block.prints]
    assert errors(said) == without_ids(shown)
