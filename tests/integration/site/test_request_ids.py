"""One id for a request: in its answer, its log lines, on its error page, in the audit log and in the tasks that it queues."""

import io
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
import structlog
from celery import current_app
from celery.signals import before_task_publish
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path, reverse

from audit.models import Entry
from copilot_site import urls
from copilot_site.lib.errors import InvalidInput
from tests.integration.site.test_private_logs import lines

__all__ = ["lines"]
pytestmark = pytest.mark.django_db
SENT = "trace-7f/3:a.b@c"
ERRORS: dict[str, Exception] = {
    "400": InvalidInput("wrong"),
    "403": PermissionDenied(),
    "500": RuntimeError("a bug"),
}
handler400, handler404, handler500 = urls.handler400, urls.handler404, urls.handler500


def fails(_request: HttpRequest, kind: str) -> HttpResponse:
    raise ERRORS[kind]


def queues(_request: HttpRequest) -> HttpResponse:
    current_app.send_task("copilot_site.heartbeat", queue="watch")
    return HttpResponse()


urlpatterns = [*urls.urlpatterns, path("fails/<kind>", fails), path("queues", queues)]


@pytest.fixture(autouse=True)
def site(settings: Any) -> None:
    settings.ROOT_URLCONF = __name__


def ask(address: str, sent: str = SENT, **more: Any) -> Any:
    return Client(raise_request_exception=False).get(address, headers={"X-Request-ID": sent}, **more)


@pytest.mark.parametrize(
    ("address", "status"),
    [("/fails/400", 400), ("/fails/403", 403), ("/no-such-page/", 404), ("/fails/500", 500)],
)  # fmt: skip
def test_an_error_page_shows_the_id_that_the_log_has(lines: io.StringIO, address: str, status: int) -> None:
    answer = ask(address)
    assert (answer.status_code, answer.headers["X-Request-ID"]) == (status, SENT)
    assert f"<code>{SENT}</code>" in answer.content.decode()
    line = next(
        line for line in lines.getvalue().splitlines() if "request_finished" in line or "request_failed" in line
    )
    assert f"request_id={SENT}" in line.replace("'", "")
    assert "duration_ms=" in line


@pytest.mark.parametrize("sent", ["", "x" * 65, "a\nrequest_finished", "<b>"])
def test_another_id_is_replaced_by_one_of_its_own(sent: str) -> None:
    given, other = (Client().get("/sign-in/", HTTP_X_REQUEST_ID=sent).headers["X-Request-ID"] for _time in range(2))
    assert (len(given), given.count("-")) == (36, 4)
    assert given != other


def test_the_audit_log_has_it() -> None:
    client = Client(headers={"X-Request-ID": SENT})
    client.force_login(User.objects.create_user("asker"))
    client.get(reverse("document", args=[uuid4()]))
    assert set(Entry.objects.filter(outcome="deny").values_list("request_id", flat=True)) == {SENT}


@pytest.fixture
def queued() -> Iterator[list[dict[str, Any]]]:
    """The headers of the tasks that are queued meanwhile."""
    sent: list[dict[str, Any]] = []

    def note(headers: dict[str, Any], **_: Any) -> None:
        sent.append(headers)

    before_task_publish.connect(note)
    yield sent
    before_task_publish.disconnect(note)


def test_a_task_goes_on_under_the_id_of_its_request(queued: list[dict[str, Any]]) -> None:
    from django_structlog.celery.receivers import CeleryReceiver

    ask("/queues")
    [headers] = queued
    task = current_app.tasks["copilot_site.heartbeat"]
    task.push_request(**headers)
    try:
        CeleryReceiver().receiver_task_prerun("1", task)  # as in a worker
        assert structlog.contextvars.get_contextvars()["request_id"] == SENT
    finally:
        task.pop_request()
        structlog.contextvars.clear_contextvars()
