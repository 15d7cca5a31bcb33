"""Texts of spans, as one may show them."""


def printable(text: str) -> str:
    """Show what a span said without obeying it: control characters, a terminal's among them, become escapes."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
