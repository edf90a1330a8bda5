"""Keys and checkpoints of a test's own."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from django.conf import LazySettings

    from tests.integration.audit.logbook import Logbook


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, settings: "LazySettings") -> None:
    settings.AUDIT_KEYS = tmp_path / "keys"
    settings.AUDIT_CHECKPOINTS = tmp_path / "checkpoints"


@pytest.fixture
def logbook(db: None) -> "Logbook":
    """A log of twenty entries by anna and bert, signed at 10 and at 20. Each is linked when it is written, as by a commit."""
    from django.db import connection

    from audit.chain.keys import create_signing_key
    from tests.integration.audit.logbook import Logbook

    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    create_signing_key()
    return Logbook.written()
