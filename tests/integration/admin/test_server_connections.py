"""What the server's settings connect to is tried from a page; what is missing is named with what mends it."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import Storage
from django.urls import reverse

from audit.actions import Action
from audit.models import Entry
from copilot_site.lib.trials import find_storage_fault
from tests.embedders import EmbeddingService, serving
from tests.factories import make_user
from tests.integration.governance.world import client_of, staff, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def root() -> User:
    return make_user("root", is_superuser=True)


def tried(user: User, **fields: str) -> str:
    return text_of(client_of(user).post(reverse("server-connections"), fields))


def test_an_embedder_that_answers_says_how_long_its_vectors_are_and_what_to_set(root: User) -> None:
    with serving(EmbeddingService(lambda texts: [[0.6, 0.8, 0.0] for _ in texts])) as service:
        said = tried(root, base_url=service.base_url, model="m", api_key="the-secret")
        assert service.authorization == "Bearer the-secret"
    assert "vectors of 3 numbers" in said
    assert f"COPILOT_EMBEDDER_BASE_URL={service.base_url}" in said
    assert "the-secret" not in said
    assert Entry.objects.get(action=Action.MODEL_TESTED).detail == {"address": service.base_url}


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ((401, {"error": "no"}), "refuses the key"),
        ((200, b"<html>"), "cannot be read"),
        ((200, {"data": [{"embedding": [0, 0]}]}), "does not return a vector"),
    ],
    ids=str,
)
def test_an_embedder_that_fails_says_which_setting_to_look_at(root: User, fault: Any, sentence: str) -> None:
    with serving(EmbeddingService(lambda texts: [[1.0] for _ in texts])) as service:
        service.faults.append(fault)
        assert sentence in tried(root, base_url=service.base_url, model="m")


def test_an_address_that_is_not_allowed_is_not_connected_to(root: User, settings: Any) -> None:
    settings.OUTGOING_ALLOW = ("private",)
    with serving(EmbeddingService(lambda texts: [[1.0] for _ in texts])) as service:
        assert "COPILOT_OUTGOING_ALLOW" in tried(root, base_url=service.base_url, model="m")
        assert service.requests == []


def test_the_storage_is_written_read_and_emptied_again(root: User, settings: Any, tmp_path: Path) -> None:
    kind = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(tmp_path)}}
    settings.STORAGES = {**settings.STORAGES, "default": kind}
    assert "written, read and removed" in tried(root, part="storage")
    assert list(tmp_path.iterdir()) == []


class Refused(Exception):
    """As botocore's ClientError has what the store answered."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.response = {"Error": {"Code": code}}


class Bucket(Storage):
    """An S3-compatible store that refuses one kind of request."""

    bucket_name = "papers"

    def __init__(self, refuses: str, code: str = "AccessDenied") -> None:
        self.refuses, self.code, self.kept = refuses, code, {}  # type: ignore[var-annotated]

    def _require(self, what: str) -> None:
        if what == self.refuses:
            raise Refused(self.code)

    def save(self, name: Any, content: Any, max_length: int | None = None) -> str:
        self._require("s3:PutObject")
        self.kept[name] = content.read()
        return str(name)

    def _open(self, name: str, mode: str = "rb") -> Any:
        self._require("s3:GetObject")
        return ContentFile(self.kept[name])

    def delete(self, name: str) -> None:
        self._require("s3:DeleteObject")
        del self.kept[name]


@pytest.mark.parametrize("privilege", ["s3:PutObject", "s3:DeleteObject"])
def test_a_privilege_that_a_bucket_does_not_give_is_named_with_the_policy_that_gives_it(privilege: str) -> None:
    fault = find_storage_fault(Bucket(privilege))
    assert fault is not None
    assert "AccessDenied" in fault.sentence
    assert fault.statement == f'{{"Effect": "Allow", "Action": "{privilege}", "Resource": "arn:aws:s3:::papers/*"}}'


def test_a_bucket_that_is_not_there_is_named() -> None:
    fault = find_storage_fault(Bucket("s3:PutObject", "NoSuchBucket"))
    assert fault is not None
    assert fault.statement == "aws s3 mb s3://papers"
    assert find_storage_fault(Bucket("nothing")) is None


def test_only_administrators_of_the_system_try_them() -> None:
    for person, status in ((staff("sam"), 403), (make_user("clara"), 302)):
        assert client_of(person).get(reverse("server-connections")).status_code == status
        assert client_of(person).post(reverse("server-connections"), {"part": "storage"}).status_code == status
