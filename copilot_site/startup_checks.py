"""Settings required before other machines may reach the site: without them nothing starts, and a sentence says which to set."""

import re
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from copilot_site.config import Config, ConfigError

LOCAL = {"localhost", "127.0.0.1", "[::1]"}
LOCAL_ADDRESSES = {"localhost", "127.0.0.1", "::1"}
MIN_DIFFERENT = 10  # characters of a secret key; 50 random hexadecimal digits have 14 and more
PLACEHOLDERS = re.compile(
    r"django-insecure|change.?me|change.?this|your.?secret|example|placeholder|password", re.IGNORECASE
)
DEFAULT_PASSWORDS = {
    "admin", "changeme", "copilot", "example", "guest", "password", "postgres", "redis", "root", "secret", "valkey",
}  # fmt: skip


def is_exposed(config: Config) -> bool:
    """Tell whether other machines can reach the site, by the address it listens on, or by a host name."""
    names = {host.strip() for host in config.allowed_hosts.split(",") if host.strip()}
    return config.host not in LOCAL_ADDRESSES or not names <= LOCAL


def find_dangers(config: Config) -> Iterator[str]:
    """Return a sentence for each danger of an exposed site; nothing for a site that only this machine reaches."""
    if not is_exposed(config):
        return
    if not config.https:
        yield (
            "Others reach this site by plain HTTP, which shows passwords to the network: put a proxy that ends TLS in front and set "
            "COPILOT_HTTPS=true (and COPILOT_TRUSTED_PROXY=true), or keep COPILOT_HOST and COPILOT_ALLOWED_HOSTS to this machine."
        )
    if config.secret_key and _is_weak_key(config.secret_key.get_secret_value()):
        yield (
            "COPILOT_SECRET_KEY can be guessed, and whoever knows it signs in as anybody: set it to 50 or more random characters, such "
            "as `openssl rand -base64 48` gives, or unset it."
        )
    for name, url in (("DATABASE_URL", config.database_url), ("REDIS_URL", config.redis_url)):
        if _has_default_password(url):
            yield f"The password in {name} is one that everybody tries first: give that service a random one."
    if config.db_role_password and config.db_role_password.get_secret_value().lower() in DEFAULT_PASSWORDS:
        yield "COPILOT_DB_ROLE_PASSWORD is one that everybody tries first: set a random one."


def require_safe_config(config: Config) -> None:
    """Raise ConfigError with the first danger."""
    for sentence in find_dangers(config):
        raise ConfigError(sentence)


def _is_weak_key(key: str) -> bool:
    is_repeated = key in (key + key)[1:-1]
    return len(set(key)) < MIN_DIFFERENT or is_repeated or PLACEHOLDERS.search(key) is not None


def _has_default_password(url: SecretStr | None) -> bool:
    """Tell whether the password is a default. An empty one is allowed: a certificate or socket may authenticate."""
    password = urlsplit(url.get_secret_value()).password if url else None
    return unquote(password or "").lower() in DEFAULT_PASSWORDS
