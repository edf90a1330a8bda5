"""“Number” and “date” in a list of columns are the key and the time of what is listed; a time that is listed dates nothing."""

import pytest

from agent.business.ask.meaning import NotUnderstood
from tests.unit.business.test_ask import sql
from tests.unit.business.test_ask_typed import food, music


def test_the_key_and_the_time_are_listed_where_columns_are() -> None:
    assert "SELECT t0.order_id, t0.order_date FROM" in food("list the orders with number and date")
    assert "SELECT t0.name, t0.hired_on FROM" in sql("who joined us most recently? name and date")


def test_a_time_that_is_listed_is_not_what_a_window_is_about() -> None:
    found = music("invoices dated between 10 March and 10 April 2025 - number, date and amount please")
    assert "SELECT t0.invoice_id, t0.invoice_date, t0.total FROM" in found
    assert "t0.invoice_date >= '2025-03-10'" in found


@pytest.mark.parametrize("question", ["revenue and date", "the date of the customers", "number and date"])
def test_elsewhere_such_words_stay_unread(question: str) -> None:
    with pytest.raises(NotUnderstood):
        sql(question)
