"""COPILOT_HOME: the one folder that holds everything a running system keeps on this machine."""

import json
import secrets
from dataclasses import dataclass
from pathlib import Path

from copilot_site.config import ConfigError
from copilot_site.lib.errors import NO_SPACE


@dataclass(frozen=True)
class Home:
    """Names of what is inside COPILOT_HOME. Copy the folder while nothing runs and you have a backup."""

    root: Path

    @property
    def postgres(self) -> Path:
        """Return the data directory of the embedded PostgreSQL."""
        return self.root / "postgres"

    @property
    def valkey(self) -> Path:
        """Return the folder of append-only files of the embedded Valkey."""
        return self.root / "valkey"

    @property
    def files(self) -> Path:
        """Return the folder of uploaded files (Django's storage API)."""
        return self.root / "files"

    @property
    def models(self) -> Path:
        """Return the folder of converted models."""
        return self.root / "models"

    @property
    def logs(self) -> Path:
        """Return the folder of the embedded services' output."""
        return self.root / "logs"

    @property
    def state(self) -> Path:
        """Return the file of ports of the embedded services (JSON)."""
        return self.root / "services.json"

    def create(self) -> "Home":
        """Create the folders, readable by this user only. Safe to repeat."""
        if not self.root.exists():
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in (self.files, self.models, self.logs, self.valkey):
            folder.mkdir(exist_ok=True)
        return self

    def secret(self, name: str) -> str:
        """Return a random secret of this home, made on first use and kept (file mode 600). name: what it is for.

        Raises ConfigError where the file is damaged, or is gone and the database that was made with it is not.
        """
        known = self._load_secrets()
        if name not in known:
            if name == "postgres" and (self.postgres / "PG_VERSION").exists():
                raise ConfigError(
                    f"{self._vault} does not hold the password of the database in {self.postgres}: restore it from your backup."
                )
            self.keep_secret(name, secrets.token_urlsafe(48))
        return self._load_secrets()[name]

    def keep_secret(self, name: str, value: str) -> None:
        """Store a secret of another home in this one, atomically."""
        known = self._load_secrets() | {name: value}
        fresh = self._vault.with_suffix(f".{secrets.token_hex(4)}")
        fresh.touch(mode=0o600)
        fresh.write_text(json.dumps(known, indent=1))
        fresh.replace(self._vault)

    @property
    def _vault(self) -> Path:
        return self.root / "secrets.json"

    def _load_secrets(self) -> dict[str, str]:
        try:
            self.create()
            known: dict[str, str] = json.loads(self._vault.read_text()) if self._vault.exists() else {}
        except OSError as error:
            raise make_unusable_error(self, error) from error
        except ValueError as error:
            raise ConfigError(f"{self._vault} is damaged: restore it from your backup.") from error
        return known


def make_unusable_error(home: Home, error: OSError) -> ConfigError:
    """Return the error for a state folder that cannot be made or written."""
    if error.errno in NO_SPACE:
        return ConfigError(
            f"The disk of the state folder {home.root} is full: make room, or choose a folder elsewhere with COPILOT_HOME=."
        )
    return ConfigError(
        f"The state folder {home.root} cannot be used ({error.strerror}). "
        "Choose a folder that this user may write with COPILOT_HOME=."
    )
