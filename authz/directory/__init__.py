"""Directories of the company: accounts and groups kept in sync with them (LDAP, SCIM)."""
