"""A bucket of an S3-compatible store, or what lies below a prefix in it.

Requests are signed here (Signature Version 4) and not by a client of its own, so that they go out by the one way that checks addresses.
"""

import hashlib
import hmac
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, quote, unquote_plus, urlencode, urlsplit

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from lxml import etree
from pydantic import field_validator

from copilot_site.lib.text.xml_input import read_xml
from knowledge.sources import base
from knowledge.sources.answers import build_answer_error, iterate_pages
from knowledge.sources.base import ConnectorContext, ListedItem, Missed, Unreadable, build_settings_field
from knowledge.sources.files import LEAVE_OUT, HttpFiles, PathChoice
from knowledge.sources.http import Root, format_site

PAGE = 1_000  # keys of one answer: the most that S3 gives
NOTHING = hashlib.sha256(b"").hexdigest()  # of a request without a body


class S3Settings(base.Settings):
    url: Root = build_settings_field(
        _("address"), _("Of the store, like https://s3.eu-central-1.amazonaws.com or https://minio.example.com:9000.")
    )
    bucket: str = build_settings_field(_("bucket"), _("Its name."), pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{1,62}$")
    prefix: str = build_settings_field(_("prefix"), _("Like handbook/rules. Empty: the whole bucket."), default="")
    region: str = build_settings_field(
        _("region"), _("Where the store wants one."), default="us-east-1", pattern=r"^[a-z0-9-]{1,40}$"
    )
    access_key: str = build_settings_field(
        _("access key"), _("Its ID. Empty: what everyone can read."), default="", pattern=r"^[!-~]{0,128}$"
    )
    leave_out: list[str] = build_settings_field(*LEAVE_OUT, default=[])

    @field_validator("prefix")
    @classmethod
    def _is_prefix(cls, prefix: str) -> str:
        return f"{prefix.strip('/')}/" if prefix.strip("/") else ""

    @property
    def address(self) -> str:
        return format_site(self.url)


class S3Connector(HttpFiles):
    """Objects are known by their keys, and change with their ETags."""

    label = _("S3 bucket")
    about = _("A bucket of Amazon S3, MinIO, Ceph or another store that speaks S3.")
    secret_label = _("Secret access key")
    wants = S3Settings

    def __init__(self, settings: S3Settings, reading: ConnectorContext) -> None:
        self._settings, self._choice, self._secret = settings, PathChoice(settings.leave_out), reading.secret
        self.connect(settings.url, reading, sign=self._sign_request, follows_elsewhere=False)

    def listing(self) -> Iterator[ListedItem | Missed]:
        query = {"list-type": "2", "encoding-type": "url", "prefix": self._settings.prefix, "max-keys": str(PAGE)}

        def following(page: Any) -> dict[str, str] | None:
            token = page.findtext("{*}NextContinuationToken")
            return {**query, "continuation-token": token} if token else None

        for page in iterate_pages(self._list_objects, query, following):
            for entry in page.iterfind("{*}Contents"):
                key = unquote_plus(entry.findtext("{*}Key", ""))
                path = key.removeprefix(self._settings.prefix)
                if not key.startswith(self._settings.prefix) or not self._choice.takes(path):
                    continue
                if {"", ".", ".."} & set(path.split("/")):
                    yield Missed(path, gettext("Its key is not a path of folders and a file."))
                else:
                    yield self._build_item(path, entry)

    def _build_item(self, path: str, entry: Any) -> ListedItem:
        size = entry.findtext("{*}Size", "0")
        return ListedItem(
            path,
            path,
            entry.findtext("{*}ETag", "")[:200] or entry.findtext("{*}LastModified", ""),
            modified_at=parse_datetime(entry.findtext("{*}LastModified", "")),
            memory={"size": int(size) if size.isdecimal() and len(size) < 19 else 0},
        )

    def _address(self, path: str = "") -> str:
        key = quote(f"{self._settings.prefix}{path}", safe="/-_.~") if path else ""
        return f"{self._settings.url}/{self._settings.bucket}/{key}".rstrip("/" if not path else "")

    def _list_objects(self, query: Mapping[str, str]) -> Any:
        """Return a list of objects. Raises Unreadable for another answer."""
        url = f"{self._address()}?{urlencode(sorted(query.items()), quote_via=quote)}"
        answer = self._client.get(url)
        if answer.status == 404:
            raise Unreadable(gettext("There is no bucket “%(name)s”.") % {"name": self._settings.bucket})
        try:
            page = read_xml(answer.body)
        except ValueError:
            page = None
        if page is None or etree.QName(page).localname != "ListBucketResult":
            raise build_answer_error(self._address(), "S3")
        return page

    def _sign_request(self, method: str, url: str) -> Mapping[str, str]:
        """Return the headers that sign a request without a body; none for an open bucket."""
        if not self._secret:
            return {}
        return sign_s3_request(
            method,
            url,
            key=self._settings.access_key,
            secret=self._secret,
            region=self._settings.region,
            at=datetime.now(UTC),
        )


def sign_s3_request(method: str, url: str, *, key: str, secret: str, region: str, at: datetime) -> dict[str, str]:
    """Return the headers of AWS Signature Version 4 for a request to S3 without a body.

    docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
    """
    parts, stamp = urlsplit(url), f"{at:%Y%m%dT%H%M%SZ}"
    host = parts.netloc.removesuffix(":443" if parts.scheme == "https" else ":80")  # as it is sent
    headers = {"host": host, "x-amz-content-sha256": NOTHING, "x-amz-date": stamp}
    query = sorted(parse_qsl(parts.query, keep_blank_values=True))
    names = ";".join(sorted(headers))
    canonical = "\n".join(
        [
            method,
            parts.path or "/",
            urlencode(query, quote_via=quote, safe="-_.~"),
            *(f"{name}:{headers[name].strip()}" for name in sorted(headers)),
            "",
            names,
            NOTHING,
        ]
    )
    scope = f"{at:%Y%m%d}/{region}/s3/aws4_request"
    to_sign = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    sealed = f"AWS4{secret}".encode()
    for part in (*scope.split("/"), to_sign):
        sealed = hmac.digest(sealed, part.encode(), "sha256")
    del headers["host"]
    return {
        **headers,
        "Authorization": f"AWS4-HMAC-SHA256 Credential={key}/{scope}, SignedHeaders={names}, Signature={sealed.hex()}",
    }


base.connectors.add("s3", S3Connector)
