"""The lock that one process has: its own also where others share its session, as behind a pooler."""

import pytest

from copilot_site.lib.database import hold_process_lock

pytestmark = pytest.mark.django_db


def test_the_lock_is_refused_to_whoever_has_the_same_session_and_ends_with_the_block() -> None:
    with hold_process_lock("reading"), hold_process_lock("reading") as again, hold_process_lock("writing") as other:
        assert (again, other) == (False, True)
    with hold_process_lock("reading") as later:
        assert later
