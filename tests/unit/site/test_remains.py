"""What a killed run of the tests left behind goes at the next start; what is in use, or no home of ours, stays."""

import fcntl
from pathlib import Path

from copilot_site.home import Home
from tests.services import clear_remains

NOTHING_RUNS = '{"postgres_port": null, "valkey_port": null}'


def home(root: Path, name: str) -> Home:
    made = Home(root / name).create()
    made.state.write_text(NOTHING_RUNS)
    return made


def test_only_homes_that_nobody_uses_any_more_are_deleted(tmp_path: Path) -> None:
    left, used, other = (home(tmp_path, name) for name in ("copilot-test-left", "copilot-test-used", "else"))
    (tmp_path / "copilot-test-begun").mkdir()  # by a run that starts now: nothing is known of its services yet
    with (used.root / "services.users").open("a") as users:
        fcntl.flock(users, fcntl.LOCK_SH)
        clear_remains(tmp_path)
    assert not left.root.exists()
    assert {path.name for path in tmp_path.iterdir()} == {"copilot-test-used", "copilot-test-begun", other.root.name}
    clear_remains(tmp_path)
    assert not used.root.exists(), "nobody holds it any more"
