"""Directories of the company: accounts and groups that are kept as they are out there (LDAP, SCIM)."""
