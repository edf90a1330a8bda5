"""Shared code of management commands: errors as one sentence, files named by the user, and readers that stop early."""

import os
from argparse import ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from django.core.management.base import CommandError, OutputWrapper
from django.utils.translation import gettext as _

from copilot_site.lib.errors import NO_SPACE, CopilotError, InvalidInput


@contextmanager
def report_command_errors() -> Iterator[None]:
    """Turn the errors that are meant for people into a CommandError: printed as one sentence, exit code 1."""
    try:
        yield
    except CopilotError as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        if error.errno in NO_SPACE:
            raise CommandError("The disk is full: make room and repeat the command.") from error
        if error.filename is None:  # not a file named by the user
            raise
        raise CommandError(f"{error.filename} cannot be used ({error.strerror}).") from error


@contextmanager
def ignore_broken_pipe(out: TextIO | OutputWrapper) -> Iterator[None]:
    """End quietly if the reader of the block's output stops early, such as `head`."""
    try:
        yield
        out.flush()
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, out.fileno())  # buffered output would fail again on close
        os.close(nowhere)


def read_text_file(file: Path) -> str:
    """Return the text of a file named by the user. Raises InvalidInput if it is no file, not readable or not UTF-8."""
    try:
        if not file.is_file():
            raise InvalidInput(_("There is no file %(file)s.") % {"file": file})
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(_("“%(file)s” cannot be read as text: %(why)s.") % {"file": file, "why": error}) from error


def check_output_file(text: str) -> Path:
    """Check an argument for a file written at the end of a command: an invalid one is refused before minutes of work."""
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
