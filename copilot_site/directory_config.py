"""The settings of the company's directory (LDAP): COPILOT_LDAP_*."""

from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, SecretStr, ValidationInfo, field_validator


class DirectoryConfig(BaseModel):
    """Part of `Config`; each field has its meaning in its description."""

    ldap_url: str | None = Field(
        default=None,
        description="ldaps://host or ldap://host (by StartTLS) of the company's directory; unset: none. Needs python-ldap.",
    )
    ldap_ca: Path | None = Field(
        default=None,
        description="PEM file of the authority that signed its certificate; unset: the system's authorities.",
    )
    ldap_bind_dn: str | None = Field(default=None, description="Account that reads the directory: cn=copilot,dc=….")
    ldap_bind_password: SecretStr | None = Field(default=None, description="Its password.")
    ldap_people_base: str | None = Field(default=None, description="Base of people: ou=people,dc=….")
    ldap_people_filter: str = Field(
        default="(objectClass=person)",
        description="Filter of people who may sign in; accounts that it no longer finds are disabled.",
    )
    ldap_username_attribute: str = Field(
        default="uid", description="Attribute of the sign-in name; Active Directory: sAMAccountName."
    )
    ldap_id_attribute: str = Field(
        default="entryUUID", description="Attribute of the permanent id; Active Directory: objectGUID."
    )
    ldap_unit_attribute: str | None = Field(
        default=None, description="Attribute of the department, mapped as “unit=…” under “Claim mappings”; unset: none."
    )
    ldap_groups_base: str | None = Field(default=None, description="Base of groups: ou=groups,dc=…; unset: none.")

    @field_validator("ldap_url")
    @classmethod
    def _directory_is_named(cls, url: str | None) -> str | None:
        if url is None:
            return None
        parts = urlsplit(url)
        if parts.scheme not in {"ldap", "ldaps"} or not parts.hostname or "@" in parts.netloc:
            raise ValueError("must be ldaps://host or ldap://host, with a port where it is another one")
        if parts.path not in {"", "/"} or parts.query:
            raise ValueError("ends with the host or its port; COPILOT_LDAP_PEOPLE_BASE says where people are")
        return url.rstrip("/")

    @field_validator("ldap_people_base")
    @classmethod
    def _directory_is_whole(cls, base: str | None, info: ValidationInfo) -> str | None:
        given = info.data
        if given.get("ldap_url") and not all((base, given.get("ldap_bind_dn"), given.get("ldap_bind_password"))):
            raise ValueError(
                "COPILOT_LDAP_URL needs COPILOT_LDAP_BIND_DN, COPILOT_LDAP_BIND_PASSWORD and COPILOT_LDAP_PEOPLE_BASE, too"
            )
        return base

    @field_validator("ldap_people_filter")
    @classmethod
    def _filter_is_one(cls, text: str) -> str:
        if not (text.startswith("(") and text.endswith(")") and text.count("(") == text.count(")")):
            raise ValueError("must be one filter in parentheses, like (objectClass=person)")
        return text
