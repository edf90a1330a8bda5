"""Which questions business data are asked, and how much text is looked at for that."""

import pytest

from authz.principal import Principal
from business import pipeline as asking
from business.models import DataSource

pytestmark = pytest.mark.django_db
QUESTION = "How many customers do we have?"


def test_what_is_longer_than_any_question_on_data_is_not_read(
    demo: DataSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    emma = Principal.named("emma")
    assert asking.how_read(emma, QUESTION, "en").is_read
    monkeypatch.setattr(asking, "QUESTION_LENGTH", len(QUESTION) - 1)
    assert not asking.how_read(emma, QUESTION, "en").is_read
