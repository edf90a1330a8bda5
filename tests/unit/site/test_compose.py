"""The production shape: every setting of `.env` reaches every process of the product, and none is named that nothing reads."""

from typing import Any

import pytest
import yaml

from copilot_site.config import BASE_DIR, Config

OURS = ("migrate", "web", "worker-interactive", "worker-bulk", "beat")


@pytest.fixture(scope="module")
def services() -> dict[str, dict[str, Any]]:
    shape: dict[str, Any] = yaml.safe_load((BASE_DIR / "docker-compose.yml").read_text())
    found: dict[str, dict[str, Any]] = shape["services"]
    return found


@pytest.mark.parametrize("name", OURS)
def test_each_process_reads_the_whole_env_file(services: dict[str, dict[str, Any]], name: str) -> None:
    assert services[name]["env_file"] == ".env"


@pytest.mark.parametrize("name", OURS)
def test_each_name_is_one_that_is_read_and_the_state_stays_in_the_image(
    services: dict[str, dict[str, Any]], name: str
) -> None:
    environment = services[name]["environment"]
    assert set(environment) <= set(Config.names())
    assert environment["COPILOT_HOME"] == "/srv/copilot"
