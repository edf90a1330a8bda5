"""Memberships, grants and denials, and other data of rights."""

from authz.models.claims import ClaimMapping, ClaimMembership, UnmappedClaim
from authz.models.directory import Directory, DirectoryAccount, DirectoryGroup
from authz.models.grants import (
    AccessRequest,
    Denial,
    FolderGroupGrant,
    FolderUserGrant,
    KnowledgeBaseGroupGrant,
    KnowledgeBaseUserGrant,
    RequestState,
)
from authz.models.snapshots import PermissionSnapshot, VisibleFolders
from authz.models.tokens import ApiToken, ServiceAccount, TokenUse
from authz.models.units import OrgUnit, OrgUnitLink, Role, UnitKind

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
