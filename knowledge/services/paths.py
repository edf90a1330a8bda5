"""A file that comes with the folders it lies in, as a person drags a whole folder onto the page."""

from uuid import UUID

from django.core.files import File
from django.db import transaction
from django.utils.translation import gettext as _

from authz.checks import get_visible, require
from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.errors import Conflict, InvalidInput
from knowledge.models import Folder
from knowledge.services.folders import ensure_path
from knowledge.services.uploads import Upload, upload_document

DEEPEST = 20  # folders in one path; what is deeper is a mistake


@transaction.atomic
def upload_at(principal: Principal, *, folder_id: UUID, path: str, filename: str, file: "File[bytes]") -> Upload:
    """Store a file in the folder `path` (names with `/` between, "" for none) below a folder; missing folders are made.

    A refused file leaves no folders behind. Raises as `upload_document` does, and InvalidInput for a path that is too deep.
    """
    folder = get_visible(Folder, principal, pk=folder_id)
    require(principal, Right.ADD, folder)
    names = [name for name in path.replace("\\", "/").split("/") if name.strip() not in {"", ".", ".."}]
    if len(names) > DEEPEST:
        raise InvalidInput(
            _("A path has at most %(most)s folders; this one has %(count)s.") % {"most": DEEPEST, "count": len(names)}
        )
    for name in names:
        folder = _child(principal, folder, name)
    return upload_document(principal, folder_id=folder.pk, filename=filename, file=file)


def _child(principal: Principal, folder: Folder, name: str) -> Folder:
    try:
        return ensure_path(principal, folder, (name,))
    except Conflict:  # a file of the same drag made it a moment ago
        return ensure_path(principal, folder, (name,))
