"""The target of an entry in the audit list."""

import pytest

from audit.models import Entry
from audit.titles import format_target

ID = "78cccf68-eaa4-4d28-8949-42c6c633b382"


@pytest.mark.parametrize(
    ("kind", "name", "shown"),
    [
        ("document", "Leave policy", "Leave policy"),
        ("session", ID, "conversation"),  # Django has a model of this name too
        ("", ID, "78cccf68…"),
        ("", "", "–"),
    ],
)
def test_a_target_is_named_by_what_people_know(kind: str, name: str, shown: str) -> None:
    assert format_target(Entry(target_type=kind, target_name=name, detail={}), {}) == shown
