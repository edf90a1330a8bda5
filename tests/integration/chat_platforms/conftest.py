"""Django is not loaded yet when pytest reads this file: what needs it is imported where it is used."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.sharing import Share

if TYPE_CHECKING:
    from tests.integration.chat_platforms.company import Company, Office


@pytest.fixture(scope="module")
def shared_office(share: Share) -> "Callable[[], Office]":
    from tests.integration.chat_platforms.company import Office

    return share(Office)


@pytest.fixture
def company(shared_office: "Callable[[], Office]", db: None, settings: Any) -> "Iterator[Company]":
    """Anna and Ben at Feishu and here, a manual that both may read and salaries that Anna alone may; and the company's bot."""
    from tests.feishu_chat import serving_feishu
    from tests.integration.chat_platforms.company import Company

    with serving_feishu() as feishu:
        yield Company(feishu, settings, shared_office())
