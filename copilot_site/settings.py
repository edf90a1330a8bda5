"""Django settings for all places. What differs between places is in `config.py`; this file reads nothing else."""

from typing import Any

import django_stubs_ext
import structlog
from django.utils.translation import gettext_lazy as _

from copilot_site.config import BASE_DIR, load_config
from copilot_site.database import database
from copilot_site.home import Home
from copilot_site.lib.logs import LEVELS, format_exception_without_values

django_stubs_ext.monkeypatch()  # ModelAdmin[Row] at run time
config = load_config()
HOME = Home(config.home)

# --- what this is made of ---------------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "copilot_site.apps.SiteConfig",
    "allauth",  # before authz, whose admin takes the place of theirs
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "demo",
    "agent",
    "agent.business.apps.BusinessConfig",
    "knowledge",
    "authz",
    "audit",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "channels",
    "csp",
    "django_structlog",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "guardian",
    "rest_framework",
]
MIDDLEWARE = [
    "copilot_site.lib.seats.GivesBack",
    "django.middleware.security.SecurityMiddleware",
    "copilot_site.lib.static_files.StaticFiles",
    "copilot_site.lib.error_pages.NothingIsKept",
    "csp.middleware.CSPMiddleware",
    "copilot_site.lib.logs.RequestLog",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "authz.second_factor.StaffNeedSecondFactor",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "audit.middleware.RecordRefusals",
    "copilot_site.lib.error_pages.ErrorPages",
]
ROOT_URLCONF = "copilot_site.urls"
ASGI_APPLICATION = "copilot_site.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]


# --- services ---------------------------------------------------------------------------------------------------------
_database_url = config.database_url.get_secret_value() if config.database_url else None
DATABASES = {"default": database(_database_url, home=HOME, pool=config.db_pool, role=config.db_role)}
DATABASE_ROLE = config.db_role
REDIS_URL = config.redis_url.get_secret_value() if config.redis_url else f"unix://{HOME.root}/no-valkey-is-running"
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "cache",
        # RESP2, as kombu and channels_redis speak it
        "OPTIONS": {"protocol": 2},
    }
}
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        # the layer waits 5 s at a time for a message; redis-py's own default would cut that wait, and the socket with it
        "CONFIG": {"hosts": [{"address": REDIS_URL, "socket_timeout": 30}], "prefix": "channels"},
    }
}

# --- queues -----------------------------------------------------------------------------------------------------------
CELERY_BROKER_URL = (
    config.broker_url.get_secret_value() if config.broker_url else REDIS_URL.replace("unix://", "redis+socket://")
)
CELERY_TASK_IGNORE_RESULT = True  # progress and results live on rows
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TIMEZONE = "UTC"
CELERY_TASK_ACKS_LATE = True  # a task of a killed worker comes back
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1  # an idle worker takes what a busy one has not begun
CELERY_WORKER_CONCURRENCY = config.worker_concurrency
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 1_500_000  # KB; replaces a child that a hostile file has blown up
CELERY_DB_REUSE_MAX = 100  # tasks on one connection: a new one costs as much as parsing a page
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CHANNEL_ERROR_RETRY = True  # a Valkey whose disk is full refuses every write: wait for it, do not end
# s; only the last resort: leases and the reaper in the database bring work back within seconds
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 3600} if not config.broker_url else {}
CELERY_TASK_DEFAULT_QUEUE = "interactive"
CELERY_BEAT_SCHEDULE_FILENAME = str(HOME.root / "beat-schedule")
# s; what is younger than the last checkpoint can be rewritten unseen by whoever rules the database
AUDIT_SIGNED_EVERY_S = 300
CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "sign audit checkpoint": {
        "task": "audit.sign_checkpoint",
        "schedule": float(AUDIT_SIGNED_EVERY_S),
        "options": {"expires": AUDIT_SIGNED_EVERY_S},
    },
    # s; roles for rights that nobody has do no harm, they only pile up
    "sweep walls": {"task": "business.sweep_walls", "schedule": 3600.0, "options": {"expires": 3600}},
    "heartbeat": {"task": "copilot_site.heartbeat", "schedule": 30.0, "options": {"expires": 30}},
    "reap runs": {"task": "agent.reap_runs", "schedule": 10.0, "options": {"expires": 10}},
    "reap ingestion": {"task": "knowledge.reap_ingestion", "schedule": 15.0, "options": {"expires": 15}},
    "tend indexes": {"task": "knowledge.tend_indexes", "schedule": 600.0, "options": {"expires": 600}},
}
# What must not wait behind a worker's long documents goes to `watch`, which every worker serves; the rest may take minutes.
CELERY_TASK_ROUTES = {
    entry["task"]: {"queue": "watch" if entry["schedule"] <= AUDIT_SIGNED_EVERY_S else "maintenance"}
    for entry in CELERY_BEAT_SCHEDULE.values()
}

# --- files ------------------------------------------------------------------------------------------------------------
MEDIA_ROOT = HOME.files
MEDIA_URL = "/no-public-media/"  # documents are served by views that ask who is asking, never by a folder
FILE_UPLOAD_PERMISSIONS = 0o600
FILE_UPLOAD_MAX_MEMORY_SIZE = 2_621_440  # bytes; larger uploads go through a temporary file
DATA_UPLOAD_MAX_NUMBER_FILES = 200
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = config.static_root
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = STATIC_ROOT is None


def storages() -> dict[str, dict[str, Any]]:
    """Django's STORAGES: uploaded files on disk or in S3, static files plain or collected with hashed names."""
    files: dict[str, Any] = {"BACKEND": "django.core.files.storage.FileSystemStorage"}
    if config.storage == "s3":
        options = {"bucket_name": config.s3_bucket, "endpoint_url": config.s3_endpoint, "file_overwrite": False}
        files = {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options}
    hashed = "whitenoise.storage.CompressedManifestStaticFilesStorage"
    plain = "django.contrib.staticfiles.storage.StaticFilesStorage"
    return {"default": files, "staticfiles": {"BACKEND": hashed if STATIC_ROOT else plain}}


STORAGES = storages()

# --- who is asking ----------------------------------------------------------------------------------------------------
AUTHENTICATION_BACKENDS = [
    "authz.backends.PeopleBackend",
    "guardian.backends.ObjectPermissionBackend",
]
ANONYMOUS_USER_NAME = None  # guardian: no row stands for nobody
GUARDIAN_MONKEY_PATCH_USER = False
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
ACCOUNT_ADAPTER = "authz.sign_in.Adapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]  # what an account has; sign-up is closed
ACCOUNT_UNIQUE_EMAIL = False  # names are unique; departments share addresses
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_PRESERVE_USERNAME_CASING = True
ACCOUNT_REAUTHENTICATION_TIMEOUT = 900  # s
# a name: five wrong passwords in five minutes; an address: what an office behind one address mistypes in the morning
ACCOUNT_RATE_LIMITS = {"login_failed": "60/m/ip,5/300s/key"}
MFA_ADAPTER = "authz.second_factor.Adapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "Knowledge Copilot"
MFA_TOTP_TOLERANCE = 1  # periods of 30 s that a clock may be off
MFA_ALLOW_UNVERIFIED_EMAIL = True  # addresses come from administrators and from the company's sign-in
STAFF_MFA = config.staff_mfa or ("required" if config.https else "optional")
SOCIALACCOUNT_ADAPTER = "authz.oidc.PeopleAdapter"
SOCIALACCOUNT_LOGIN_ON_GET = True  # a form that ends at another site is what our form-action forbids
SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
SOCIALACCOUNT_STORE_TOKENS = False


def company_sign_in() -> list[dict[str, Any]]:
    """allauth's APPS: the sign-in of COPILOT_OIDC_*, if it is set; more may stand in the admin."""
    if not (config.oidc_issuer and config.oidc_client_id and config.oidc_client_secret):
        return []
    options = {
        "server_url": config.oidc_issuer,
        "groups_claim": config.oidc_groups_claim,
        "link_by_email": config.oidc_link_by_email,
    }
    secret = config.oidc_client_secret.get_secret_value()
    names = {"provider_id": "company", "name": config.oidc_name}
    return [{**names, "client_id": config.oidc_client_id, "secret": secret, "settings": options}]


SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": company_sign_in(), "OAUTH_PKCE_ENABLED": True}}
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"

# --- security ---------------------------------------------------------------------------------------------------------
SECRET_KEY = config.secret_key.get_secret_value() if config.secret_key else HOME.secret("secret_key")
DEBUG = config.debug
ALLOWED_HOSTS = [host.strip() for host in config.allowed_hosts.split(",") if host.strip()]
SECURE_SSL_REDIRECT = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = config.https
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]  # asked over plain HTTP from inside
SECURE_HSTS_SECONDS = 31_536_000 if config.https else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = config.https
TRUSTED_PROXY = config.trusted_proxy
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if config.trusted_proxy else None
OUTGOING_ALLOW = tuple(config.outgoing_allow.split(","))  # what addresses entered in the admin may lead to
DATABASE_CA = config.database_ca
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_NAME = f"copilot_session_{config.port}"  # two checkouts on one machine share the host name
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

# --- language and time ------------------------------------------------------------------------------------------------
USE_I18N = USE_TZ = True
LANGUAGE_CODE = "en"
LANGUAGES = [("zh-hans", _("Simplified Chinese")), ("en", _("English"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = config.time_zone

# --- API --------------------------------------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_METADATA_CLASS": None,  # OPTIONS is 405: the schema says what there is, and views without a serializer would fail
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "authz.rest.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": [
        "authz.rest.parsers.BoundedJSONParser",
        "rest_framework.parsers.MultiPartParser",
    ],
    "DEFAULT_PAGINATION_CLASS": "copilot_site.lib.pagination.CappedPagination",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "copilot_site.lib.problem_details.problem_handler",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Enterprise Knowledge Copilot",
    "DESCRIPTION": "Documents, search and conversations; each answer is limited to what the caller may read.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "GET_LIB_DOC_EXCLUDES": "copilot_site.api.undescribed",
    "ENUM_NAME_OVERRIDES": {
        "DocumentLanguageEnum": "knowledge.rest.serializers.LANGUAGES",
        "InterfaceLanguageEnum": "agent.rest.sessions.INTERFACE_LANGUAGES",
        "ParseStatusEnum": "knowledge.models.ParseStatus",
        "RightEnum": "authz.permissions.Right",
        "StageStatusEnum": "knowledge.models.StageStatus",
        "StageNameEnum": "knowledge.models.StageName",
        "StopReasonEnum": "agent.models.StopReason",
    },
}

# --- the product ------------------------------------------------------------------------------------------------------
EMBEDDER = config.embedder
EMBEDDER_OPTIONS: dict[str, Any] = {
    "model": config.embedder_model or "",
    "base_url": config.embedder_base_url or "",
    "api_key": config.embedder_api_key.get_secret_value() if config.embedder_api_key else "",
    "cache_dir": HOME.models,
    "threads": config.embed_threads,
}
RERANKER = config.reranker
RERANKER_MODEL = config.reranker_model or ""
LLM: dict[str, Any] = {
    "base_url": config.llm_base_url or "",
    "model": config.llm_model or "",
    "api_key": config.llm_api_key.get_secret_value() if config.llm_api_key else "",
    "context_tokens": config.llm_context_tokens,
    "price_input": config.llm_price_input,
    "price_output": config.llm_price_output,
    "run_cost": config.llm_run_cost,
    "day_cost": config.llm_day_cost,
    "keys_secret": config.llm_keys_secret.get_secret_value() if config.llm_keys_secret else "",
}
OTLP_ENDPOINT = config.otlp_endpoint or ""
OTLP_HEADERS = config.otlp_headers.get_secret_value() if config.otlp_headers else ""
UPLOAD_MAX_BYTES = config.upload_max_mb * 1_000_000
AUDIT_KEYS = config.audit_keys or HOME.root / "audit-keys"
AUDIT_CHECKPOINTS = config.audit_checkpoints or HOME.root / "audit-checkpoints"
RUNS_AT_ONCE, MODEL_RUNS_AT_ONCE = config.runs_at_once, config.model_runs_at_once
RUNS_PER_PERSON, RUNS_PER_PROGRAM = config.runs_per_person, config.runs_per_program
RUNS_WAITING = config.runs_waiting
TRANSFERS_PER_PERSON = config.transfers_per_person
WEB_PROCESSES = config.web_processes
SEARCH_EXACT_LIMIT = config.search_exact_limit  # visible chunks

# --- logs -------------------------------------------------------------------------------------------------------------
DJANGO_STRUCTLOG_CELERY_ENABLED = True
DJANGO_STRUCTLOG_IP_LOGGING_ENABLED = (
    False  # copilot_site.lib.addresses binds the address: this one believes any header
)
_shared: list[Any] = [
    structlog.contextvars.merge_contextvars,  # request and task ids
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]
_renderer: Any = (
    structlog.processors.JSONRenderer(ensure_ascii=False)
    if config.log_format == "json"
    else structlog.dev.ConsoleRenderer(colors=False, pad_event_to=0)
)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "structured": {
            "()": structlog.stdlib.ProcessorFormatter,
            "foreign_pre_chain": _shared,
            "processors": [
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                format_exception_without_values,
                _renderer,
            ],
        },
    },
    "filters": {"quiet": {"()": "copilot_site.lib.logs.Quiet"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "structured", "filters": ["quiet"]}},
    "root": {"handlers": ["stderr"], "level": config.log_level},
    "loggers": LEVELS,
}
structlog.configure(
    processors=[
        structlog.stdlib.filter_by_level,
        *_shared,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.StackInfoRenderer(),
        structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
    ],
    logger_factory=structlog.stdlib.LoggerFactory(),
    cache_logger_on_first_use=True,
)
