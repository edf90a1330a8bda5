"""Mails: sent where a server is named, dropped where none is."""

from copilot_site.settings.base import config

MAIL_IS_SET_UP = bool(config.smtp_host)
SITE_URL = config.site_url or ""
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if MAIL_IS_SET_UP else 'dummy'}.EmailBackend"
EMAIL_HOST = config.smtp_host or ""
EMAIL_PORT = config.smtp_port
EMAIL_HOST_USER = config.smtp_username or ""
EMAIL_HOST_PASSWORD = config.smtp_password.get_secret_value() if config.smtp_password else ""
EMAIL_USE_TLS = config.smtp_security == "starttls"
EMAIL_USE_SSL = config.smtp_security == "tls"
EMAIL_TIMEOUT = 10  # s; of one step with the server
DEFAULT_FROM_EMAIL = SERVER_EMAIL = config.smtp_from or ""
