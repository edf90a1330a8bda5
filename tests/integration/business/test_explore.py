"""The explore page: what it offers, what it asks and shows, and that nobody learns from it what they may not ask."""

import re

import pytest
from django.contrib.auth.models import User

from audit.actions import Action
from audit.models import Entry
from business.explore.fields import ExploreFields, explore_url, select_expressible_parts
from business.logical_query.query import (
    Breakdown,
    Filter,
    LogicalQuery,
    Metric,
    Period,
    Related,
    ResultOrder,
    TimeRange,
)
from business.sources.grants import revoke_right
from tests.factories import make_user
from tests.integration.business.conftest import Askers
from tests.integration.business.explored import names_in, options, page, rows, sentence, ticked
from tests.integration.governance.world import client_of


@pytest.fixture
def nora(askers: Askers) -> User:
    return askers.nora


@pytest.fixture
def sam(askers: Askers) -> User:
    return askers.sam


def test_metrics_are_offered_by_table_and_the_rest_only_as_it_goes_with_the_metric(nora: User) -> None:
    text = page(nora, "/data/")
    assert options(text, "metric0") == {
        "customer", "list:customer", "region", "list:region", "sale", "list:sale", "sale.revenue",
        "sum:sale.amount", "avg:sale.amount", "min:sale.amount", "max:sale.amount",
    }  # fmt: skip
    assert options(text, "by0") == set()
    text = page(nora, "/data/?metric=sale.revenue&live=1")
    assert "All sales." in text
    grains = {"day", "week", "month", "quarter", "year", "weekday", "hour"}
    assert options(text, "by0") == {
        *(f"@{grain}" for grain in grains),
        *(f"customer.since@{grain}" for grain in grains),
        "sale", "sale.amount", "sale.is_paid", "customer", "customer.segment", "customer.unit", "region",
    }  # fmt: skip
    # a sum is not offered by what would add it several times; a count of things is, as each is counted once
    assert "sale" not in options(page(nora, "/data/?metric=avg:customer.since&live=1"), "by0")
    offered = options(page(nora, "/data/?metric=customer&live=1"), "by0")
    assert {"region", "sale.is_paid"} <= offered
    assert "customer" not in offered
    assert {row[0] for row in rows(page(nora, "/data/?metric=region&by=customer.segment"))} == {"small"}  # of North


def test_what_is_chosen_is_asked_and_shown_and_downloaded(nora: User) -> None:
    text = page(nora, "/data/?metric=sale.revenue&by=region&when=dates&start=2026-09-01&end=2026-09-30&top=1&share=1")
    assert sentence(text) == "Region with the highest revenue, with shares, September 2026"
    assert [row[0] for row in rows(text)] == ["West"]
    assert "'North'" in text[text.index("<pre") :]
    assert Entry.objects.get(action=Action.SQL_EXECUTED).actor_name == "nora"
    filled = "metric=sale.revenue&by=customer.segment"
    text = page(nora, f"/data/?{filled}", language="zh-hans")
    assert "销售额" in sentence(text)
    assert "全部销售。" in text
    assert "<td>小</td>" in re.sub(r' (data-value|title)="[^"]*"', "", text)
    answer = client_of(nora).get(f"/data/table.csv?source=shop&{filled}")
    lines = b"".join(answer).decode("utf-8-sig").splitlines()
    assert lines[0] == "segment,revenue"
    assert [line.split(",")[0] for line in lines[1:-2]] == [row[0] for row in rows(text)]
    assert lines[-1] == "in the rows of North"
    assert Entry.objects.get(action=Action.RESULT_EXPORTED).detail["rows"] == len(rows(text))
    assert client_of(nora).get("/data/table.csv?source=shop&metric=sale&share=1").status_code == 400


def test_two_times_stand_side_by_side_by_their_names(nora: User) -> None:
    text = page(nora, "/data/?metric=sale&when=dates&start=2026-10-01&end=2026-10-31&compare=previous_period")
    assert re.search(r"September 2026: [\d,]+ sales?; October 2026: [\d,]+ sales?; [\d,]+ sales? (more|fewer)", text)


FULL = LogicalQuery(
    metrics=(Metric(name="sale.revenue"), Metric(name="sale")),
    dimensions=(Breakdown(name="customer.segment"),),
    filters=(Filter(field="region.label", values=("East",)), Filter(field="sale.amount", op=">", values=(10,))),
    times=(TimeRange(period=Period(unit="month", first=-2, last=-1)),),
    ranking=ResultOrder(limit=5, descending=False, ties=False),
)


def test_a_link_opens_the_form_filled(nora: User) -> None:
    text = page(nora, explore_url("shop", FULL))
    chosen = set(re.findall(r'<option value="([^"]+)" selected', text))
    assert chosen == {
        "sale.revenue", "sale", "customer.segment", "region.label", "in", "sale.amount", ">", "month:-2:-1", "0", "1",
    }  # fmt: skip
    assert ticked(text, "value0") == {"East": True, "West": False}
    assert 'name="value1" type="text" value="10"' in text


def test_a_question_that_does_not_fit_opens_with_the_parts_that_do() -> None:
    whole = FULL.model_copy(update={"related": (Related(model="customer"),)})
    assert explore_url("shop", whole) == ""
    assert ExploreFields.of(select_expressible_parts(whole)) == ExploreFields.of(FULL)
    many = LogicalQuery(
        metrics=(Metric(name="sale"),), filters=(Filter(field="sale.id", values=tuple(range(10**6, 10**6 + 900))),)
    )
    assert explore_url("shop", many) == "", "longer than an address may be"
    assert explore_url("shop") == "/data/?source=shop"


def test_tables_columns_and_values_that_somebody_may_not_ask_are_nowhere(nora: User, sam: User) -> None:
    """Nora sees no name of a customer and no other unit, though the layer lists them; Sam nothing of the table of customers."""
    address = "/data/?metric=sale&live=1&field0=customer.{}&field1=region.label"
    text = page(nora, address.format("segment"))
    assert ticked(text, "value0") == {"small": False, "large": False}
    assert names_in(text) == {"customer", "segment", "small", "region", "East", "revenue", "shop", "North"}
    assert ticked(page(nora, address.format("unit")), "value0") == {"North": False}
    assert ticked(page(nora, address.format("name")), "value0") == {}
    seen = page(sam, "/data/?metric=sale&live=1&field1=region.label")
    assert names_in(seen) == {"region", "East", "revenue", "shop", "South"}
    refused = page(sam, "/data/?metric=sale&by=customer.segment", status=400)
    assert names_in(refused.replace("customer.segment", "")) == {"region", "revenue", "shop"}
    assert not ticked(page(sam, "/data/?metric=sale&field0=customer.segment&live=1"), "value0")


def test_who_may_not_ask_the_source_sees_nothing_of_it(askers: Askers, nora: User) -> None:
    other = make_user("otto")
    text = page(other, "/data/")
    assert "There is no data source you can ask." in text
    assert names_in(text) == set()
    missing = page(other, "/data/?source=nothing", status=404)
    assert page(other, "/data/?source=shop", status=404).replace("shop", "nothing") == missing
    assert 'href="/data/"' not in text
    assert 'href="/data/"' in page(nora, "/")
    revoke_right(None, askers.described, of=nora.groups.get())
    assert page(nora, "/data/?source=shop&metric=sale", status=404)


def test_subjects_open_a_first_chart_and_a_first_number_gets_one(nora: User) -> None:
    text = page(nora, "/data/")
    names = re.findall(r'<a class="subject-name" href="([^"]*)">(.*?)</a>', text)
    assert [name for _address, name in names] == ["Customers", "Regions", "Sales"]
    first = names[2][0]
    assert "metric=sale.revenue&by=%40month&when=month%3A12%3Arolling" in first
    opened = sentence(page(nora, first))
    assert opened.startswith("Revenue by month, ")
    chosen = page(nora, "/data/?metric=sale.revenue&first=1")
    assert sentence(chosen) == opened
    assert 'class="subject-name"' not in chosen
    alone = page(nora, "/data/?metric=sale.revenue&live=1")
    assert sentence(alone).startswith("Revenue: "), "what somebody took out does not come back"


def test_while_somebody_chooses_what_no_longer_fits_and_what_lacks_its_value_is_left_out(nora: User) -> None:
    half = "metric=sale.revenue&by=region&field0=sale.amount&op0=>&live=1"
    text = page(nora, f"/data/?{half}")
    assert sentence(text) == "Revenue by region"
    assert re.search(r'<details class="filter-chip" id="chip0" open>\s*<summary>sale amount more than</summary>', text)
    moved = page(nora, "/data/?metric=region&by=region&by=customer.segment&live=1")
    assert sentence(moved) == "Regions by segment"
    gone = page(
        nora, "/data/?metric=sale&field0=region.label&value0=East&field1=sale.is_paid&value1=true&remove=0&live=1"
    )
    assert re.findall(r"<summary>(.*?)</summary>", gone)[0] == "paid is yes"
    assert "region.label" not in re.findall(r'<select id="field0".*?selected', gone, re.DOTALL)[0].split('"')[-3:]
