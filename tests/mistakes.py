"""Mistakes that the statement of rights could hold, each put in the place of what stands there."""

import pytest

from authz.rights import folders

GRANTS = "WHERE g.group_id IN (SELECT group_id FROM mine) "
DENIALS = "FROM {links} l\n    WHERE "
# mistake → what stands in the statement, and what stands there by mistake
MISTAKES = {
    "no inheritance": ("WHERE NOT l.is_cut AND", "WHERE l.depth = 0 AND"),
    "no denial": ("AND l.descendant_id NOT IN (SELECT descendant_id FROM denied)", ""),
    "or for and": (f"{GRANTS}AND p.codename", f"{GRANTS}OR p.codename"),
    "no break": ("WHERE NOT l.is_cut AND", "WHERE"),
    "no break of a root": (" AND r.inherits", ""),
    "denials end at a break": (f"{DENIALS}l.ancestor_id", f"{DENIALS}NOT l.is_cut AND l.ancestor_id"),
    "denials do not go down": (f"{DENIALS}l.ancestor_id", f"{DENIALS}l.depth = 0 AND l.ancestor_id"),
    "no end": (" AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())", ""),
    "no unit above": (folders.GROUPS, folders.OWN),
    "disabled people": (" AND u.is_active", ""),
    "any right": ("p.codename =", "p.codename <>"),
    "no token": ("{within} IS NULL OR", "TRUE OR"),
}  # fmt: skip


def make(monkeypatch: pytest.MonkeyPatch, mistake: str) -> None:
    """From here on the statement holds this mistake, until the test ends."""
    right, wrong = MISTAKES[mistake]
    assert right in folders.FOLDERS
    monkeypatch.setattr(folders, "FOLDERS", folders.FOLDERS.replace(right, wrong))
