"""The environment, read once: typed, frozen, secrets hidden.

Values come from environment variables and from `.env` beside manage.py (variables win). `settings/` and the start-up
code around it are the readers; everything else uses `django.conf.settings` or gets plain values as arguments.
"""

import os
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from dotenv import dotenv_values
from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from copilot_site.directory_config import DirectoryConfig
from copilot_site.lib.outgoing.addresses import parse_entries
from copilot_site.model_config import ModelConfig

BASE_DIR = Path(__file__).resolve().parent.parent
PREFIX = "COPILOT_"
OF_TESTS = {"COPILOT_DATA"}  # names the folder of evaluation data; the product does not read it
SCHEMES = {"database_url": ("postgresql://", "postgres://"), "redis_url": ("redis://", "rediss://", "unix://")}
ZONES = Path("/usr/share/zoneinfo")  # where it exists Django accepts the names in it and no others
MISSPELT = 0.9  # minimum similarity of a misspelt name to the right one; removed options are below it


class ConfigError(SystemExit):
    """The environment is invalid; the text says why in one sentence. Ends the program when nobody catches it."""


class Config(ModelConfig, DirectoryConfig, BaseSettings):
    """The settings that differ between installations. Field `x` is read from COPILOT_X unless it names an alias."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_file=BASE_DIR / ".env",
        env_ignore_empty=True,
        frozen=True,
        extra="ignore",
        populate_by_name=True,
        validate_default=True,
    )

    # where things are
    home: Path = Field(
        default=Path(".copilot"), description="State folder, relative to the repository; one folder, one backup."
    )
    database_url: SecretStr | None = Field(
        default=None,
        alias="DATABASE_URL",
        description="postgresql://user:password@host:port/name; unset: embedded PostgreSQL.",
    )
    redis_url: SecretStr | None = Field(
        default=None, alias="REDIS_URL", description="redis://…; unset: embedded Valkey."
    )
    db_role: str | None = Field(
        default=None,
        pattern=r"^[a-z_][a-z0-9_]{0,62}$",
        description="PostgreSQL role the processes take on, without rights to change the audit log; embedded: copilot_app.",
    )
    db_role_password: SecretStr | None = Field(
        default=None,
        description="`migrate` makes that role a login with this password (letters and digits); unset: unchanged.",
    )
    static_root: Path | None = Field(
        default=None,
        description="Folder of collected static files, hashed names; unset: served from the source folders.",
    )
    s3_bucket: str | None = Field(
        default=None, description="Bucket of uploaded files; needs django-storages; unset: files are in COPILOT_HOME."
    )

    audit_keys: Path | None = Field(
        default=None, description="Folder of the key that signs audit checkpoints; unset: audit-keys in COPILOT_HOME."
    )
    audit_checkpoints: Path | None = Field(
        default=None,
        description="Folder of signed audit checkpoints, best a write-once mount; unset: audit-checkpoints in COPILOT_HOME.",
    )

    # how it is served
    host: str = Field(
        default="127.0.0.1", description="Address the web server listens on; this machine only by default."
    )
    port: int = Field(default=8000, alias="PORT", ge=1, le=65535, description="TCP port of the web server.")
    allowed_hosts: str = Field(
        default="localhost,127.0.0.1,[::1]", description="Host names this site answers to, by comma."
    )
    https: bool = Field(default=False, description="Browsers reach the site by HTTPS: Secure cookies, HSTS, redirect.")
    trusted_proxy: bool = Field(default=False, description="A proxy in front sets X-Forwarded-Proto itself.")
    secret_key: SecretStr | None = Field(
        default=None,
        min_length=50,
        description="Signs sessions and encrypts stored keys; >= 50 characters; unset: made once into COPILOT_HOME.",
    )
    staff_mfa: Literal["required", "optional"] | None = Field(
        default=None,
        description="Second factor of staff before the admin opens: required or optional; unset: required with COPILOT_HTTPS.",
    )
    oidc_issuer: str | None = Field(
        default=None, description="https://… of the company sign-in (OpenID Connect); unset: passwords of our own only."
    )
    oidc_client_id: str | None = Field(default=None, description="Client id of this site at the issuer.")
    oidc_client_secret: SecretStr | None = Field(default=None, description="Client secret of this site at the issuer.")
    oidc_groups_claim: str = Field(default="groups", description="Claim that names a person's groups.")
    oidc_link_by_email: bool = Field(
        default=False,
        description="Link a first sign-in to the account with the same verified address; never superusers.",
    )
    oidc_addresses_verified: bool = Field(
        default=False,
        description="Addresses of an issuer that does not say whether they are verified (Entra ID) count as verified.",
    )
    outgoing_allow: str = Field(
        default="private,public,local-models",
        description="Where data sources, models and sign-ins of the admin may lead: hosts, *.hosts, networks, private, public (https); "
        "local-models: superusers may allow language models on this machine.",
    )
    mcp_commands: Path | None = Field(
        default=None,
        description='A JSON file of local tool services, {"mcpServers": {name: {"command": …, "args": […]}}}; unset: none.',
    )
    site_url: str | None = Field(
        default=None,
        pattern=r"^https?://[^/]+$",
        description="https://… under which people reach the site; for links in mails.",
    )
    smtp_host: str | None = Field(default=None, description="Host of the mail server; unset: no mail is sent.")
    smtp_port: int = Field(default=587, ge=1, le=65535, description="Its port.")
    smtp_security: Literal["starttls", "tls", "none"] = Field(
        default="starttls", description="Encryption of the connection; none for a server on this machine only."
    )
    smtp_username: str | None = Field(default=None, description="Account at the mail server; unset: it asks for none.")
    smtp_password: SecretStr | None = Field(default=None, description="Its password.")
    smtp_from: str | None = Field(
        default=None, description="Address that mails come from; needed with COPILOT_SMTP_HOST."
    )
    source_folders: str = Field(
        default="",
        description="Folders of this machine that sources of documents may read, by comma, each from the root; unset: none.",
    )
    database_ca: Path | None = Field(
        default=None,
        description="File of CA certificates (PEM) that the databases of data sources are verified with; unset: the system's.",
    )
    time_zone: str = Field(default="Asia/Shanghai", description="IANA name for times on pages; the database keeps UTC.")

    # where runs are reported as OpenTelemetry spans; the names are OpenTelemetry's own
    otlp_endpoint: str | None = Field(
        default=None,
        alias="OTEL_EXPORTER_OTLP_ENDPOINT",
        pattern=r"^https?://",
        description="http(s)://… of a collector that takes OTLP over HTTP; unset: nothing is reported.",
    )
    otlp_headers: SecretStr | None = Field(
        default=None, alias="OTEL_EXPORTER_OTLP_HEADERS", description="name=value by comma, such as a collector's key."
    )

    # limits
    upload_max_mb: int = Field(default=50, ge=1, le=2048, description="Largest file, MB (10^6 bytes).")
    attachment_days: int = Field(
        default=30, ge=0, description="Days that files of conversations are kept; 0: none are taken."
    )
    model_runs_at_once: int = Field(
        default=200,
        ge=1,
        le=2000,
        description="Questions that a web process answers with a language model at the same time; what the model's service takes.",
    )
    web_processes: int = Field(
        default_factory=lambda: min(os.cpu_count() or 1, 4),
        alias="WEB_CONCURRENCY",
        ge=1,
        le=16,
        description="Web processes on one port; unset: all cores, at most 4.",
    )
    worker_concurrency: int = Field(
        default_factory=lambda: min(os.cpu_count() or 1, 2),
        ge=1,
        le=64,
        description="Processes of the bulk worker, 60 MB each for an embedder; unset: all cores, at most 2.",
    )

    @field_validator("time_zone")
    @classmethod
    def _time_zone_is_known(cls, name: str) -> str:
        if not (ZONES / name).is_file() if ZONES.exists() else name not in available_timezones():
            raise ValueError(f"{name} is no time zone that this machine knows: name one such as Asia/Shanghai")
        return name

    @field_validator("outgoing_allow")
    @classmethod
    def _outgoing_is_readable(cls, text: str) -> str:
        return ",".join(parse_entries(text))

    @field_validator("source_folders")
    @classmethod
    def _source_folders_are_absolute(cls, text: str) -> str:
        folders = [part.strip() for part in text.split(",") if part.strip()]
        for folder in folders:
            if not Path(folder).is_absolute():
                raise ValueError(f"{folder} must begin at the root, like /srv/handbook")
        return ",".join(folders)

    @field_validator("home", "static_root", "audit_keys", "audit_checkpoints", "database_ca", "ldap_ca")
    @classmethod
    def _absolute(cls, path: Path | None) -> Path | None:
        return None if path is None else (BASE_DIR / path.expanduser()).resolve()

    @field_validator(*SCHEMES)
    @classmethod
    def _scheme_is_supported(cls, url: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        schemes = SCHEMES[str(info.field_name)]
        if url and not url.get_secret_value().startswith(schemes):
            raise ValueError(f"must start with {' or '.join(schemes)}")
        return url

    @field_validator("oidc_issuer")
    @classmethod
    def _issuer_is_safe(cls, url: str | None) -> str | None:
        host = urlsplit(url).hostname if url else None
        if url and not (
            url.startswith("https://") or (url.startswith("http://") and host in {"localhost", "127.0.0.1"})
        ):
            raise ValueError("must start with https:// (http:// is for localhost alone)")
        return url

    @field_validator("oidc_client_secret")
    @classmethod
    def _sign_in_is_whole(cls, secret: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        parts = [info.data.get("oidc_issuer"), info.data.get("oidc_client_id"), secret]
        if any(parts) and not all(parts):
            raise ValueError(
                "set COPILOT_OIDC_ISSUER, COPILOT_OIDC_CLIENT_ID and COPILOT_OIDC_CLIENT_SECRET together, or none of them"
            )
        return secret

    @classmethod
    def names(cls) -> list[str]:
        """Return every environment name that is read, sorted."""
        return sorted(f.alias or f"{PREFIX}{name.upper()}" for name, f in cls.model_fields.items())


def refuse_unknown_settings(names: list[str]) -> None:
    """Stop on COPILOT_* names that nothing reads, misspelt or removed: they would silently leave a default in place."""
    known = Config.names()
    unknown = sorted({name for name in names if name.startswith(PREFIX)} - {*known} - OF_TESTS)
    if unknown:
        near = {name: get_close_matches(name, known, n=1, cutoff=MISSPELT) for name in unknown}
        names_text = ", ".join(f"{name} (did you mean {near[name][0]}?)" if near[name] else name for name in unknown)
        raise ConfigError(
            f"Unknown options: {names_text}: correct or unset them; all are in .env.example, what replaces removed ones is in CHANGELOG.md."
        )


@cache
def load_config() -> Config:
    """Read environment and `.env` once; return the same object ever after. Raises ConfigError with one sentence."""
    try:
        in_file = dotenv_values(BASE_DIR / ".env")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{BASE_DIR / '.env'} cannot be read: save it as UTF-8, readable by this user.") from error
    refuse_unknown_settings([*os.environ, *in_file])
    try:
        return Config()
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        field = str(first["loc"][0])
        name = field if field in Config.names() else f"{PREFIX}{field.upper()}"
        raise ConfigError(f"{name} cannot be used: {first['msg'].removeprefix('Value error, ')}.") from None
