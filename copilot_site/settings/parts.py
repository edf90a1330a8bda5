"""The parts of the project: apps, middlewares, templates, languages."""

from importlib.util import find_spec

from django.utils.translation import gettext_lazy as _

from copilot_site.settings.base import BASE_DIR, config

INSTALLED_APPS = [
    "copilot_site.apps.SiteConfig",
    "allauth",  # before authz, whose admin takes the place of theirs
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "demo",
    "agent",
    "business.apps.BusinessConfig",
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
# Benchmarks and evaluations are for development and the demo: a site that others reach does not start without HTTPS
# (docs/how-to/deploy.md), so without it this is neither production nor reached by others. The image does not contain the package.
LOADS_EVALS = not config.https and find_spec("evals") is not None
if LOADS_EVALS:
    INSTALLED_APPS.append("evals")
MIDDLEWARE = [
    "copilot_site.lib.load.seats.GivesBack",
    "django.middleware.security.SecurityMiddleware",
    "copilot_site.lib.storage.files.StaticFiles",
    "copilot_site.lib.http.error_pages.NothingIsKept",
    "csp.middleware.CSPMiddleware",
    "copilot_site.lib.logs.RequestLog",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "authz.sign_in.second_factor.StaffNeedSecondFactor",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "audit.middleware.RecordRefusals",
    "copilot_site.lib.text.plain_text.PlainText",
    "copilot_site.lib.http.error_pages.ErrorPages",
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
                "agent.pages.news.news_in_templates",
            ],
            "builtins": ["copilot_site.templatetags.site_tags"],
        },
    },
]

USE_I18N = USE_TZ = True
LANGUAGE_CODE = "en"
LANGUAGES = [("zh-hans", _("Simplified Chinese")), ("en", _("English"))]
FORMAT_MODULE_PATH = "copilot_site.formats"
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = config.time_zone
