"""Uploaded and static files."""

from typing import Any

from copilot_site.settings.base import BASE_DIR, HOME, config

MEDIA_ROOT = HOME.files
MEDIA_URL = "/no-public-media/"  # documents are served by views that ask who is asking, never by a folder
FILE_UPLOAD_PERMISSIONS = 0o600
FILE_UPLOAD_MAX_MEMORY_SIZE = 2_621_440  # bytes; larger uploads go through a temporary file
DATA_UPLOAD_MAX_NUMBER_FILES = 200
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5_000  # of one form: a table of 300 columns, eleven fields each, is edited as a whole
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = config.static_root
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = STATIC_ROOT is None


def build_storages() -> dict[str, dict[str, Any]]:
    """Return Django's STORAGES: uploaded files on disk or in S3, static files plain or collected with hashed names."""
    files: dict[str, Any] = {"BACKEND": "django.core.files.storage.FileSystemStorage"}
    if config.s3_bucket:
        options = {"bucket_name": config.s3_bucket, "file_overwrite": False}
        files = {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options}
    hashed = "whitenoise.storage.CompressedManifestStaticFilesStorage"
    plain = "django.contrib.staticfiles.storage.StaticFilesStorage"
    return {"default": files, "staticfiles": {"BACKEND": hashed if STATIC_ROOT else plain}}


STORAGES = build_storages()
