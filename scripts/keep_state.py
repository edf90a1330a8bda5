"""Keep a small system of this version for the upgrade tests of later ones: `python -m scripts.keep_state`, run before its release."""

import json
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from copilot_site.lib.version import VERSION
from tests.embedders import home_with_model
from tests.homes import ROOT, Checkout

RELEASED = ROOT / "tests" / "released"


def main() -> int:
    """Fill a new home, back it up, and write the backup with its keys and answers to tests/released/VERSION.tar.gz."""
    with TemporaryDirectory() as root:
        checkout = home_with_model(Path(root) / "home")
        state = Path(root) / "state"
        state.mkdir()
        with checkout.started("up", "--services-only", until="PostgreSQL and Valkey answer."):
            _run(checkout, "migrate")
            _run(checkout, "audit_key")
            filled = _run(checkout, "shell", "-c", "from tests.integration.site.backed_up import fill; fill()")
            _run(checkout, "backup", str(state / "backup"), "--keys", str(state / "keys"))
        (state / "found.json").write_text(json.dumps(json.loads(filled.split("FOUND ", 1)[1]), indent=1))
        with tarfile.open(RELEASED / f"{VERSION}.tar.gz", "w:gz") as archive:
            archive.add(state, VERSION)
    sys.stdout.write(f"{RELEASED / VERSION}.tar.gz: commit it with the release.\n")
    return 0


def _run(checkout: Checkout, *words: str) -> str:
    """Run `manage.py` with these words and return its output. Raises SystemExit with its errors."""
    done = checkout.manage(*words, timeout_s=600)
    if done.returncode:
        raise SystemExit(f"manage.py {words[0]} failed:\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
