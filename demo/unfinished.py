"""Detect an unfinished first start of the demo: an empty database, or its documents still waiting."""

from django.contrib.auth.models import User
from django.db.models import F, QuerySet

from demo.company import list_documents, load_company
from demo.wiki import list_page_names
from knowledge.models import DocumentVersion, KnowledgeBase, ParseStatus


def is_empty() -> bool:
    """Return whether there are no people and no data yet; later changes and deletions stay."""
    return not User.objects.exists() and not KnowledgeBase.unscoped.exists()


def list_waiting_documents() -> QuerySet[DocumentVersion]:
    """Return the demo's documents that are not fully ingested; last those still leased by a killed start."""
    names = [document.file.name for document in list_documents(load_company())] + list_page_names()
    unread = DocumentVersion.unscoped.filter(parse_status__in=(ParseStatus.PENDING, ParseStatus.PROCESSING))
    return unread.filter(uploaded_by=None, document__filename__in=names).order_by(
        F("lease_expires_at").asc(nulls_first=True), "created_at"
    )


def is_unfinished() -> bool:
    """Return whether `manage.py seed_demo` has something to do."""
    return is_empty() or list_waiting_documents().exists()
