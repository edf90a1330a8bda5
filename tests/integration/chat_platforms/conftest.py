"""Django is not loaded yet when pytest reads this file: what needs it is imported where it is used."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.integration.chat_platforms.company import Company


@pytest.fixture
def company(monkeypatch: pytest.MonkeyPatch, transactional_db: None, settings: Any) -> "Iterator[Company]":
    """Anna and Ben at Feishu and here, a manual that both may read and salaries that Anna alone may; and the company's bot."""
    from tests.feishu_chat import serving_feishu
    from tests.integration.chat_platforms.company import Company

    with serving_feishu() as feishu:
        yield Company(feishu, settings)
