"""A person at a terminal: a prompt with history and completion."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import click
from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.filters import has_selection
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from weaklink_processor.commands.sql_completion import NameCompleter
from weaklink_processor.commands.sql_shell import Shell, is_complete

_PROMPT = "weaklink> "
_MORE = "     ...> "


def converse(shell: Shell) -> None:
    """Prompt, answer, and go on, whatever goes wrong, until Ctrl-D or .quit.

    Raises:
        UsageError: there is nothing to ask about.
    """
    with shell.session.snapshot():
        click.echo(f"weaklink on {shell.session.config.data_dir}: .help lists commands, .views what there is")
    prompt: PromptSession[str] = PromptSession(
        _PROMPT,
        multiline=True,
        prompt_continuation=_MORE,
        key_bindings=_keys(),
        history=_history(history_file(os.environ)),
        completer=NameCompleter(shell.session),
        complete_while_typing=False,
        auto_suggest=AutoSuggestFromHistory(),
        enable_history_search=True,
    )
    for text in _lines(prompt):
        try:
            shell.take(text)
        except KeyboardInterrupt:
            click.echo("stopped", err=True)
        except Exception as error:  # noqa: BLE001 - whatever a statement does, the next one may do better
            click.echo(f"Error: {error}", err=True)
        if shell.ended:
            return


def history_file(environ: Mapping[str, str]) -> Path:
    """Return where past statements are kept: the user's state folder, by the XDG base directory specification."""
    state = environ.get("XDG_STATE_HOME", "")
    base = Path(state) if state.startswith("/") else Path("~/.local/state").expanduser()
    return base / "weaklink" / "sql_history"


def _lines(prompt: PromptSession[str]) -> Iterator[str]:
    while True:
        try:
            text = prompt.prompt().strip()
        except KeyboardInterrupt:  # leaves what was typed
            continue
        except EOFError:
            return
        if text:
            yield text


def _history(file: Path) -> History:
    """Return the history in a file that nobody else reads; without one if it cannot be written."""
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(file, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
        file.chmod(0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(file))


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter", filter=~has_selection)
    def enter(event: KeyPressEvent) -> None:
        """End what is complete; go on with what is not."""
        buffer = event.current_buffer
        text = buffer.text.strip()
        if not text or text.startswith(".") or is_complete(text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return keys
