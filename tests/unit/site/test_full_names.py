"""A person's name is shown as people of its language write it."""

import pytest
from django.contrib.auth.models import User


@pytest.mark.parametrize(
    ("given", "family", "shown"),
    [("小明", "王", "王小明"), ("Mei", "Lin", "Mei Lin"), ("小明", "Wang", "小明 Wang"), ("王小明", "", "王小明")],
)
def test_a_name_in_chinese_characters_begins_with_the_family_name(given: str, family: str, shown: str) -> None:
    assert User(first_name=given, last_name=family).get_full_name() == shown
