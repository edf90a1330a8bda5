"""The production shape: every setting of `.env` reaches every process of the product, and none is named that nothing reads."""

from typing import Any

import pytest
import yaml
from django.conf import settings

from copilot_site.config import BASE_DIR, Config
from copilot_site.embedded.serve import WORKERS

OURS = ("migrate", "web", "worker-interactive", "worker-bulk", "beat")


@pytest.fixture(scope="module")
def services() -> dict[str, dict[str, Any]]:
    shape: dict[str, Any] = yaml.safe_load((BASE_DIR / "docker-compose.yml").read_text())
    found: dict[str, dict[str, Any]] = shape["services"]
    return found


def test_the_workers_serve_the_queues_that_up_lets_them_serve(services: dict[str, dict[str, Any]]) -> None:
    for name, queues in WORKERS.items():
        assert f" -Q {queues} " in services[f"worker-{name}"]["command"]


@pytest.mark.parametrize("entry", settings.CELERY_BEAT_SCHEDULE.values(), ids=lambda entry: entry["task"])
def test_what_is_due_within_minutes_is_served_by_every_worker(entry: dict[str, Any]) -> None:
    """Two documents of hours held up both processes of the one worker that signed the audit log and brought dead work back."""
    queue = settings.CELERY_TASK_ROUTES[entry["task"]]["queue"]
    serving = [name for name, queues in WORKERS.items() if queue in queues.split(",")]
    assert serving == (list(WORKERS) if entry["schedule"] <= 300 else ["bulk"])


@pytest.mark.parametrize("name", OURS)
def test_each_process_reads_the_whole_env_file(services: dict[str, dict[str, Any]], name: str) -> None:
    assert services[name]["env_file"] == ".env"


@pytest.mark.parametrize("name", OURS)
def test_each_name_is_one_that_is_read_and_the_state_stays_in_the_image(
    services: dict[str, dict[str, Any]], name: str
) -> None:
    environment = services[name]["environment"]
    assert {key for key, value in environment.items() if value} <= set(
        Config.names()
    )  # an empty one takes away what .env brings
    assert environment["COPILOT_HOME"] == "/srv/copilot"
