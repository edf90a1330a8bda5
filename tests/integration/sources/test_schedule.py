"""When sources are read by themselves."""

from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from knowledge.models import Every, Source
from knowledge.sources.schedule import SOON, Pace, compute_next_run, is_quiet_time
from knowledge.sources.services import save_source
from knowledge.sources.tasks import run_due_sources, run_source

SHANGHAI = ZoneInfo("Asia/Shanghai")
NOON = datetime(2026, 11, 25, 12, 0, tzinfo=SHANGHAI)


def test_after_its_time_at_its_hour_and_outside_quiet_hours() -> None:
    assert compute_next_run(Source(every_minutes=Every.HOUR), NOON) == NOON + timedelta(hours=1)
    assert compute_next_run(Source(every_minutes=Every.NEVER), NOON) is None
    assert compute_next_run(Source(every_minutes=Every.HOUR, is_active=False), NOON) is None
    at_three = Source(every_minutes=Every.DAY, at=time(3, 0))
    assert compute_next_run(at_three, NOON) == datetime(2026, 11, 26, 3, 0, tzinfo=SHANGHAI)
    assert compute_next_run(at_three, NOON.astimezone(UTC)) == datetime(2026, 11, 26, 3, 0, tzinfo=SHANGHAI)
    quiet = Source(every_minutes=Every.HOUR, quiet_from=time(12, 30), quiet_until=time(18, 0))
    assert compute_next_run(quiet, NOON) == datetime(2026, 11, 25, 18, 0, tzinfo=SHANGHAI)


def test_quiet_hours_may_go_over_midnight() -> None:
    source = Source(quiet_from=time(22, 0), quiet_until=time(6, 0))
    assert [hour for hour in range(24) if is_quiet_time(source, NOON.replace(hour=hour))] == [0, 1, 2, 3, 4, 5, 22, 23]


def test_what_failed_is_tried_again_soon_and_not_for_ever() -> None:
    source = Source(every_minutes=Every.DAY)
    waits = [(compute_next_run(source, NOON, failures=failures) or NOON) - NOON for failures in range(5)]
    assert waits == [timedelta(days=1), SOON, SOON * 2, SOON * 3, timedelta(days=1)]


def test_a_pace_spreads_requests() -> None:
    clock, slept = [0.0], []

    def sleep(seconds: float) -> None:
        slept.append(round(seconds, 3))
        clock[0] += seconds

    pace = Pace(60, clock=lambda: clock[0], sleep=sleep)
    for _request in range(3):
        pace()
    assert slept == [1.0, 1.0]
    clock[0] += 10
    pace()
    assert slept == [1.0, 1.0]


@pytest.mark.django_db
def test_beat_sends_what_is_due_once(
    opened: Path,
    make_source: Callable[..., Source],
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    sent: list[str] = []
    monkeypatch.setattr(run_source, "apply_async", lambda args, queue: sent.append(args[1]))
    source = make_source("folder", path=str(opened))
    with django_capture_on_commit_callbacks(execute=True):
        run_due_sources()
        assert sent == []  # by hand alone
    source.every_minutes = Every.HOUR
    save_source(None, source)
    for minutes, expected in ((0, 0), (61, 1), (61, 1), (90, 1), (123, 2)):
        with (
            time_machine.travel(timezone.now() + timedelta(minutes=minutes)),
            django_capture_on_commit_callbacks(execute=True),
        ):
            run_due_sources()
        assert (minutes, len(sent)) == (minutes, expected)
