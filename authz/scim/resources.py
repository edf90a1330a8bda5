"""Resources for people and groups, as `/Schemas` describes them: the attributes of RFC 7643 that are used here.

Other attributes from an identity provider (telephone numbers, titles, passwords) are ignored.
"""

import hashlib
import json
from datetime import datetime
from typing import Annotated, Any, ClassVar

from pydantic import Field
from scim2_models import (
    URN,
    CaseExact,
    ComplexAttribute,
    Meta,
    Mutability,
    Reference,
    Required,
    Resource,
    Uniqueness,
)


class Name(ComplexAttribute):
    family_name: str | None = None
    """The family name."""

    given_name: str | None = None
    """The first name."""


class Email(ComplexAttribute):
    value: str | None = None
    """An address; the primary one, else the first, is that of the account."""

    type: str | None = Field(None, examples=["work", "home", "other"])
    """What it is for."""

    primary: bool | None = None
    """Is it the one to use?"""


class GroupMembership(ComplexAttribute):
    value: Annotated[str | None, Mutability.read_only, CaseExact.true] = None
    """Identifier of the group."""

    ref: Annotated[Reference["Group"] | None, Mutability.read_only] = Field(
        None, serialization_alias="$ref", validation_alias="$ref"
    )
    """Where the group is."""

    display: Annotated[str | None, Mutability.read_only] = None
    """Name of the group."""


class User(Resource[Any]):
    """An account."""

    __schema__ = URN("urn:ietf:params:scim:schemas:core:2.0:User")

    user_name: Annotated[str | None, Uniqueness.server, Required.true] = None
    """The name that the person signs in with."""

    name: Name | None = None
    """What the person is called."""

    Name: ClassVar[type[ComplexAttribute]] = Name

    active: bool | None = None
    """May the person sign in? What was made inactive here by an administrator stays so."""

    emails: list[Email] | None = None
    """Addresses of the person."""

    Emails: ClassVar[type[ComplexAttribute]] = Email

    groups: Annotated[list[GroupMembership] | None, Mutability.read_only] = None
    """Groups of this service that the person is in."""

    Groups: ClassVar[type[ComplexAttribute]] = GroupMembership


class GroupMember(ComplexAttribute):
    value: Annotated[str | None, Mutability.immutable, CaseExact.true] = None
    """Identifier of the person."""

    ref: Annotated[Reference["User"] | None, Mutability.immutable] = Field(
        None, serialization_alias="$ref", validation_alias="$ref"
    )
    """Where the person is."""


class Group(Resource[Any]):
    """A group of people, which may have been given rights here."""

    __schema__ = URN("urn:ietf:params:scim:schemas:core:2.0:Group")

    display_name: Annotated[str | None, Required.true, Uniqueness.server] = None
    """Name of the group."""

    members: list[GroupMember] | None = None
    """People in the group, as far as this service keeps them."""

    Members: ClassVar[type[ComplexAttribute]] = GroupMember


def build_meta(resource: Resource[Any], kind: str, created_at: datetime, changed_at: datetime) -> Meta:
    """Return the times of a resource, with a hash of its content as version, so changes made here count, too."""
    content = json.dumps(resource.model_dump(mode="json", exclude={"meta"}), sort_keys=True)
    version = f'W/"{hashlib.sha256(content.encode()).hexdigest()[:24]}"'
    return Meta(resource_type=kind, created=created_at, last_modified=changed_at, version=version)
