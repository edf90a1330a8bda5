"""A knowledge base in one step: its name, and who may read it."""

from collections.abc import Iterable

from django.db import transaction
from django.utils.translation import gettext as _

from authz.holders import Holder
from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.errors import PermissionDenied
from knowledge.models import KnowledgeBase
from knowledge.services.access import give
from knowledge.services.folders import create_knowledge_base


def may_make_bases(principal: Principal) -> bool:
    return principal.is_superuser and not principal.is_nobody


@transaction.atomic
def set_up_knowledge_base(
    principal: Principal, *, name: str, description: str = "", readers: Iterable[Holder] = ()
) -> KnowledgeBase:
    """Make a knowledge base that its readers may view and download from; whoever makes it holds every right on it.

    Raises PermissionDenied (no administrator), InvalidInput (no usable name), Conflict (the name is taken).
    """
    if not may_make_bases(principal):
        raise PermissionDenied(_("Only an administrator of the system makes knowledge bases. Ask for one there."))
    base = create_knowledge_base(principal, name=name, description=description)
    for holder in readers:
        give(principal, (Right.VIEW, Right.DOWNLOAD), base, to=holder)
    return base
