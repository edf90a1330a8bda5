"""SCIM 2.0 (RFC 7643, 7644): an identity provider keeps accounts and groups here."""
