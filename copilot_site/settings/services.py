"""PostgreSQL and Redis or Valkey."""

from copilot_site.database import build_database_entry
from copilot_site.settings.base import HOME, config

_database_url = config.database_url.get_secret_value() if config.database_url else None
DATABASES = {"default": build_database_entry(_database_url, home=HOME, role=config.db_role)}
DATABASE_ROLE = config.db_role
DATABASE_ROLE_PASSWORD = config.db_role_password.get_secret_value() if config.db_role_password else ""
REDIS_URL = config.redis_url.get_secret_value() if config.redis_url else f"unix://{HOME.root}/no-valkey-is-running"
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "cache",
        # RESP2, as kombu speaks it; s: who signs in waits for it
        "OPTIONS": {"protocol": 2, "socket_timeout": 2, "socket_connect_timeout": 2},
    }
}
