"""`weaklink sql` in this process, which is quicker than one of its own."""

from pathlib import Path

from click.testing import CliRunner, Result

from weaklink_processor.cli import main


def call(data_dir: Path, *arguments: str, stdin: str = "") -> Result:
    result = CliRunner().invoke(main, ["sql", "--data-dir", str(data_dir), *arguments], input=stdin)
    assert isinstance(result.exception, SystemExit | None), result.exception
    return result


def answered(data_dir: Path, *arguments: str, stdin: str = "") -> str:
    """What a call that must succeed prints."""
    result = call(data_dir, *arguments, stdin=stdin)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def refusal(data_dir: Path, *arguments: str, stdin: str = "") -> str:
    """The message of a call that must be refused as wrong use, without any output."""
    result = call(data_dir, *arguments, stdin=stdin)
    assert (result.exit_code, result.stdout) == (2, "")
    return result.stderr
