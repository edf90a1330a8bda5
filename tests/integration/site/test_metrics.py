"""`/metrics` is for whoever has the token alone, counts over all processes, and has what each panel of the dashboard shows."""

import io
import json
import re
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from copilot_site.config import BASE_DIR
from copilot_site.lib import measures
from copilot_site.lib.measures import LONG_S, SEPARATOR, Durations, EventCount
from copilot_site.metrics import derive_metrics_token
from knowledge.gauges import count_unfinished_versions, iterate_source_readings
from knowledge.models import DocumentVersion, ParseStatus
from tests.factories import make_base, make_document, make_folder
from tests.integration.agent.conversations import make_library, make_reader
from tests.integration.site.test_private_logs import asking

BOARD = BASE_DIR / "deploy" / "grafana" / "knowledge-copilot.json"
SEEN = EventCount("copilot_seen_by_test", "Of this test.", ("what",))
TOOK = Durations("copilot_took_in_test", "Of this test.", ("what",), LONG_S)


@pytest.fixture(autouse=True)
def at_zero() -> None:
    measures.flush()
    measures._connect_valkey(settings.REDIS_URL).delete(measures.KEY)


def scraped() -> dict[str, dict[tuple[str, ...], float]]:
    """Every sample by its name, with and without data, by the values of its labels."""
    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {derive_metrics_token()}"})
    assert answer.status_code == 200
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(answer.content.decode()):
        parts = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}.get(family.type, ("",))
        found |= {f"{family.name}{part}": {} for part in parts}
        for sample in family.samples:
            found[sample.name][tuple(sample.labels.values())] = sample.value
    return found


@pytest.mark.parametrize("sent", [None, "Bearer ", "Bearer wrong", "Token {token}", "Bearer {token} "])
def test_nobody_reads_them_without_the_token(sent: str | None) -> None:
    headers = {} if sent is None else {"Authorization": sent.format(token=derive_metrics_token())}
    answer = Client().get("/metrics", headers=headers)
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert b"copilot_" not in answer.content


def test_a_command_prints_the_token_which_the_secret_key_makes(settings: Any) -> None:
    out = io.StringIO()
    call_command("metrics_token", stdout=out)
    assert out.getvalue() == f"{derive_metrics_token()}\n"
    before, settings.SECRET_KEY = derive_metrics_token(), "another" * 10
    assert derive_metrics_token() != before


@pytest.mark.django_db(transaction=True)
def test_every_panel_shows_a_metric_that_there_is() -> None:
    shown = {
        name
        for panel in json.loads(BOARD.read_text(encoding="utf-8"))["panels"]
        for target in panel["targets"]
        for name in re.findall(r"copilot_\w+", target["expr"])
    }
    there = scraped()
    assert shown - there.keys() == set()
    of_tests = {name for name in there if "_test" in name}
    unshown = {re.sub(r"_(bucket|count|sum)$", "", name) for name in there.keys() - of_tests}
    assert unshown - {re.sub(r"_(bucket|count|sum)$", "", name) for name in shown} == set(), "no panel shows it"


@pytest.mark.django_db(transaction=True)
def test_counts_of_several_processes_add_up() -> None:
    for process in (measures._Pending(), measures._Pending()):
        process.add({SEPARATOR.join((SEEN.name, 'a "quoted" name\n')): 2})
        process.flush()
    SEEN.add("here")
    for seconds in (0.1, 0.3, 400):
        TOOK.observe(seconds, "x")
    found = scraped()
    assert found["copilot_seen_by_test_total"] == {('a "quoted" name\n',): 4, ("here",): 1}
    assert found["copilot_took_in_test_count"] == {("x",): 3}
    assert found["copilot_took_in_test_sum"] == {("x",): 400.4}
    buckets = found["copilot_took_in_test_bucket"]
    assert [buckets[bound, "x"] for bound in ("0.25", "0.5", "120.0", "+Inf")] == [1, 2, 2, 3]


@pytest.mark.django_db(transaction=True)
def test_what_valkey_did_not_take_is_counted_later(settings: Any) -> None:
    right = settings.REDIS_URL
    settings.REDIS_URL = "unix:///nowhere"
    measures._connect_valkey.cache_clear()
    try:
        SEEN.add("later")
        found = scraped()
        assert found["copilot_up"] == {("valkey",): 0, ("database",): 1}
        assert found["copilot_seen_by_test_total"] == {}
    finally:
        settings.REDIS_URL = right
        measures._connect_valkey.cache_clear()
    assert scraped()["copilot_seen_by_test_total"] == {("later",): 1}


@pytest.mark.django_db(transaction=True)
def test_a_question_is_counted_with_its_stages_and_its_first_sentence() -> None:
    assert asking(make_reader(make_library()[0]), "How many days of annual leave are there?") == 201
    found = scraped()
    assert sum(found["copilot_runs_total"].values()) == 1
    assert found["copilot_first_sentence_seconds_count"] == {(): 1}
    assert {stage for (stage,) in found["copilot_search_stage_duration_seconds_count"]} >= {
        "plan",
        "embed",
        "candidates",
    }


@pytest.mark.django_db
def test_a_scrape_leaves_its_thread_the_connection_that_it_had() -> None:
    before = connection.connection
    scraped()
    assert connection.connection is before


@pytest.mark.django_db
def test_waiting_and_failed_documents_are_counted() -> None:
    folder = make_folder(make_base("Rules"), "Updates")
    for name, status in (("a.md", ParseStatus.PENDING), ("b.md", ParseStatus.FAILED), ("c.md", ParseStatus.COMPLETED)):
        DocumentVersion.unscoped.filter(document=make_document(folder, name)).update(parse_status=status)
    assert {(row.queue, row.status): row.count for row in count_unfinished_versions()} == {
        ("interactive", ParseStatus.PENDING): 1,
        ("interactive", ParseStatus.FAILED): 1,
    }
    assert list(iterate_source_readings()) == []


def test_the_name_of_no_person_is_a_label() -> None:
    counted = [count.labels for count in measures.COUNTS] + [histogram.labels for histogram in measures.HISTOGRAMS]
    labels = {label for item in counted for label in item}
    assert labels - {"what"} == {
        "outcome", "model", "error", "direction", "verdict", "route", "status", "pool", "stage",
    }  # fmt: skip
