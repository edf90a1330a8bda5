"""The vocabulary of the audit log: one dotted name for each thing that is recorded, with a text for people."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Action(models.TextChoices):
    SIGNED_IN = "auth.signed_in", _("signed in")
    SIGN_IN_FAILED = "auth.sign_in_failed", _("failed to sign in")
    SIGNED_OUT = "auth.signed_out", _("signed out")
    TOKEN_ISSUED = "token.issued", _("issued an API token")
    TOKEN_REVOKED = "token.revoked", _("revoked an API token")

    GRANT_GIVEN = "grant.given", _("gave a right")
    GRANT_REVOKED = "grant.revoked", _("took back a right")

    KNOWLEDGE_BASE_CREATED = "knowledge_base.created", _("created a knowledge base")
    FOLDER_CREATED = "folder.created", _("created a folder")
    FOLDER_RENAMED = "folder.renamed", _("renamed a folder")
    FOLDER_MOVED = "folder.moved", _("moved a folder")
    FOLDER_DELETED = "folder.deleted", _("deleted a folder")

    DOCUMENT_UPLOADED = "document.uploaded", _("uploaded a document")
    DOCUMENT_VERSION_ADDED = "document.version_added", _("added a version of a document")
    DOCUMENT_PUBLISHED = "document.published", _("published a version of a document")
    DOCUMENT_FAILED = "document.failed", _("could not ingest a document")
    DOCUMENT_RETRIED = "document.retried", _("started ingestion again")
    DOCUMENT_DOWNLOADED = "document.downloaded", _("downloaded a document")
    DOCUMENT_OPENED = "document.opened", _("opened a document")
    DOCUMENT_DELETED = "document.deleted", _("deleted a document")

    SEARCHED = "search.performed", _("searched")
    QUESTION_ASKED = "question.asked", _("asked a question")
    QUESTION_ANSWERED = "question.answered", _("received an answer")


class Outcome(models.TextChoices):
    ALLOW = "allow", _("allowed")
    DENY = "deny", _("denied")
    FILTERED = "filtered", _("filtered")
    ERROR = "error", _("error")
