"""What the management commands share: who asks, and errors as one sentence."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management.base import CommandError

from copilot_site.lib.errors import CopilotError


@contextmanager
def one_sentence() -> Iterator[None]:
    """Turn the errors that are meant for people into a CommandError: printed as one sentence, exit code 1."""
    try:
        yield
    except CopilotError as error:
        raise CommandError(str(error)) from error
