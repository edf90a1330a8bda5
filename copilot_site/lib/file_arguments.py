"""Files that somebody names on the command line: read as text, or written at the end."""

import os
from argparse import ArgumentTypeError
from pathlib import Path

from django.utils.translation import gettext as _

from copilot_site.lib.errors import InvalidInput


def read_text(file: Path) -> str:
    """The text of a file that somebody named. Raises InvalidInput for what is no file, may not be read or is not UTF-8."""
    try:
        if not file.is_file():
            raise InvalidInput(_("There is no file %(file)s.") % {"file": file})
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(_("“%(file)s” cannot be read as text: %(why)s.") % {"file": file, "why": error}) from error


def file_to_write(text: str) -> Path:
    """The type of an argument for a file that a command writes at its end: what cannot be one is refused before minutes of work."""
    path = Path(text)
    try:
        if path.is_dir():
            raise ArgumentTypeError(f"{path} is a folder; name a file.")
        if not path.parent.is_dir():
            raise ArgumentTypeError(f"{path.parent} is not a folder; name a file in one that exists.")
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise ArgumentTypeError(f"{path} may not be written by this user.")
    except OSError as error:
        raise ArgumentTypeError(f"{path} cannot be a file ({error.strerror}).") from error
    return path
