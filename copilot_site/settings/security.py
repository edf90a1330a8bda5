"""Keys, hosts, cookies, headers, and the permitted addresses of the admin's settings."""

from copilot_site.settings.base import HOME, config
from copilot_site.startup_checks import is_exposed

SECRET_KEY = config.secret_key.get_secret_value() if config.secret_key else HOME.secret("secret_key")
DEBUG = False  # error pages with rows and settings are shown nowhere; the log has the traceback
IS_EXPOSED = is_exposed(config)  # others than this machine reach the site
ALLOWED_HOSTS = [host.strip() for host in config.allowed_hosts.split(",") if host.strip()]
SECURE_SSL_REDIRECT = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = config.https
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]  # asked over plain HTTP from inside
SECURE_HSTS_SECONDS = 31_536_000 if config.https else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = config.https
TRUSTED_PROXY = config.trusted_proxy
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if config.trusted_proxy else None
OUTGOING_ALLOW = tuple(config.outgoing_allow.split(","))  # what addresses entered in the admin may lead to
WEB_PORT = config.port
DATABASE_CA = config.database_ca
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_NAME = f"copilot_session_{config.port}"  # two checkouts on one machine share the host name
CSRF_FAILURE_VIEW = "copilot_site.lib.http.error_pages.forged"
CSRF_COOKIE_NAME = f"copilot_csrf_{config.port}"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 12 * 3600  # s; a working day
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    },
}
