"""What a first start of the demo has yet to do: nothing is there, or documents wait that it brought."""

from django.contrib.auth.models import User
from django.db.models import F, QuerySet

from demo.company import documents, load_company
from demo.wiki import page_names
from knowledge.models import DocumentVersion, KnowledgeBase, ParseStatus


def is_empty() -> bool:
    """Nobody and nothing is there yet; whatever somebody made or deleted since stays as it is."""
    return not User.objects.exists() and not KnowledgeBase.unscoped.exists()


def waiting() -> QuerySet[DocumentVersion]:
    """The demo's own documents that are not read to their end; last those that a killed start still holds a lease on."""
    names = [document.file.name for document in documents(load_company())] + page_names()
    unread = DocumentVersion.unscoped.filter(parse_status__in=(ParseStatus.PENDING, ParseStatus.PROCESSING))
    return unread.filter(uploaded_by=None, document__filename__in=names).order_by(
        F("lease_expires_at").asc(nulls_first=True), "created_at"
    )


def is_unfinished() -> bool:
    """Whether `manage.py seed_demo` has something to do."""
    return is_empty() or waiting().exists()
