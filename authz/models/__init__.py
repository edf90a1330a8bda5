"""Memberships, grants and denials, and other data of rights."""

from authz.models.grants import (
    AccessRequest,
    Denial,
    FolderGroupGrant,
    FolderUserGrant,
    KnowledgeBaseGroupGrant,
    KnowledgeBaseUserGrant,
    PermissionSnapshot,
    RequestState,
    VisibleFolders,
)
from authz.models.people import (
    ClaimMapping,
    ClaimMembership,
    Directory,
    DirectoryAccount,
    DirectoryGroup,
    OrgUnit,
    OrgUnitLink,
    Role,
    UnitKind,
    UnmappedClaim,
)
from authz.models.tokens import ApiToken, ServiceAccount, TokenUse

__all__ = [
    "AccessRequest",
    "ApiToken",
    "ClaimMapping",
    "ClaimMembership",
    "Denial",
    "Directory",
    "DirectoryAccount",
    "DirectoryGroup",
    "FolderGroupGrant",
    "FolderUserGrant",
    "KnowledgeBaseGroupGrant",
    "KnowledgeBaseUserGrant",
    "OrgUnit",
    "OrgUnitLink",
    "PermissionSnapshot",
    "RequestState",
    "Role",
    "ServiceAccount",
    "TokenUse",
    "UnitKind",
    "UnmappedClaim",
    "VisibleFolders",
]
