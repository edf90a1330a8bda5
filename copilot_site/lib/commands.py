"""What the management commands share: errors as one sentence, and a reader that leaves early."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from django.core.management.base import CommandError, OutputWrapper

from copilot_site.lib.errors import NO_SPACE, CopilotError


@contextmanager
def one_sentence() -> Iterator[None]:
    """Turn the errors that are meant for people into a CommandError: printed as one sentence, exit code 1."""
    try:
        yield
    except CopilotError as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        if error.errno in NO_SPACE:
            raise CommandError("The disk is full: make room and repeat the command.") from error
        if error.filename is None:  # no file that somebody named
            raise
        raise CommandError(f"{error.filename} cannot be used ({error.strerror}).") from error


@contextmanager
def reader_may_leave(out: TextIO | OutputWrapper) -> Iterator[None]:
    """Print within it; a reader that has had enough, such as `head`, ends it quietly."""
    try:
        yield
        out.flush()
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, out.fileno())  # what is still kept back would fail once more when the file is closed
        os.close(nowhere)
