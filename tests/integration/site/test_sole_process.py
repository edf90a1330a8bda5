"""The lock that one process has: its own also where others share its session, as behind a pooler."""

import pytest

from copilot_site.lib.database import sole_process

pytestmark = pytest.mark.django_db


def test_the_lock_is_refused_to_whoever_has_the_same_session_and_ends_with_the_block() -> None:
    with sole_process("reading"), sole_process("reading") as again, sole_process("writing") as other:
        assert (again, other) == (False, True)
    with sole_process("reading") as later:
        assert later
