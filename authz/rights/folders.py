"""Folders and knowledge bases on which a person holds a right: granted, inherited down the tree, not denied.

The rule is SQL, a subquery of the statement that reads the rows: that statement reads memberships, active accounts,
valid tokens, expiry, denials and the tree, so a revoked right is gone for the next one. It is written by hand because
building it from querysets costs 10 ms of Python each time. The tables of the tree are those of `authz.rights.tree`.
"""

import re
from functools import cache
from typing import TypeAlias

from django.db.models.expressions import RawSQL

from authz.models import FolderGroupGrant, FolderUserGrant, KnowledgeBaseGroupGrant, KnowledgeBaseUserGrant
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.tree import require_tree

Ids: TypeAlias = RawSQL  # a subquery of ids, for `__in`

NAMES = re.compile(r"\{(\w+)\}")  # placeholders for a statement's values, in order
PLACES = {
    "user": "%s",
    "people": "%s::int[]",
    "folder_codename": "%s",
    "base_codename": "%s",
    "right": "%s",
    "within": "%s::uuid",
    "token": "%s::bigint",
    "conversation": "%s::uuid",
}

FOLDER_GRANTS = (FolderGroupGrant, FolderUserGrant)
BASE_GRANTS = (KnowledgeBaseGroupGrant, KnowledgeBaseUserGrant)

# The groups of an active person: their own, and those of the units above the units they are in. A unit's id is its group's.
OWN = """
    SELECT m.group_id FROM auth_user_groups m JOIN auth_user u ON u.id = m.user_id WHERE u.id = {user} AND u.is_active"""
GROUPS = f"""{OWN}
    UNION SELECT up.ancestor_id FROM authz_orgunitlink up WHERE up.descendant_id IN ({OWN})"""  # noqa: S608  # made of constants, as all below
# A grant counts when it is of this right, has not ended, and is the person's own or one of their groups'.
_COUNTS = """p.codename = {codename} AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())"""
_BY_GROUP = f"""
    FROM authz_{{grants}}groupgrant g JOIN auth_permission p ON p.id = g.permission_id{{place}}
    WHERE g.group_id IN (SELECT group_id FROM mine) AND {_COUNTS}"""  # noqa: S608
_BY_NAME = f"""
    FROM authz_{{grants}}usergrant g JOIN auth_permission p ON p.id = g.permission_id{{place}}
    JOIN auth_user u ON u.id = g.user_id
    WHERE u.id = {{user}} AND u.is_active AND {_COUNTS}"""
_ROOT = """
    JOIN {folders} r ON r.knowledge_base_id = g.content_object_id AND r.parent_id IS NULL AND r.inherits"""
_ON_FOLDER = {"grants": "folder", "place": "", "codename": "{folder_codename}", "user": "{user}"}
_ON_BASE = {"grants": "knowledgebase", "codename": "{base_codename}", "user": "{user}"}
# An API token must still be valid.
_ALIVE = """({token} IS NULL OR EXISTS (
    SELECT 1 FROM authz_apitoken t WHERE t.id = {token} AND t.revoked_at IS NULL AND t.expires_at > statement_timestamp()
))"""
_DENIED = """(d.user_id = {user} OR d.group_id IN (SELECT group_id FROM mine)) AND d."right" = {right}"""

# Files of a conversation have no grants: its person reads and adds them in that conversation; with an audience nobody
# does, or one of several people with the same groups would share theirs with all.
_IN_CONVERSATION = """
    SELECT c.id FROM {folders} c JOIN auth_user u ON u.id = c.owner_id
    WHERE c.id = {conversation} AND u.id = {user} AND u.is_active AND cardinality({people}) = 1
    AND {right} IN ('view', 'download', 'add')"""

# Folders inherit grants, those on a base from its root, down to a folder that cuts them; they inherit all denials.
FOLDERS = f"""
WITH mine AS MATERIALIZED ({GROUPS}
), denied AS MATERIALIZED (
    SELECT l.descendant_id FROM {{links}} l
    WHERE l.ancestor_id IN (
        SELECT d.folder_id FROM authz_denial d WHERE {_DENIED}
        UNION ALL
        SELECT r.id FROM authz_denial d JOIN {{folders}} r ON r.knowledge_base_id = d.knowledge_base_id
        WHERE r.parent_id IS NULL AND {_DENIED}
    )
)
SELECT l.descendant_id FROM {{links}} l
WHERE NOT l.is_cut AND l.ancestor_id IN (
    SELECT g.content_object_id{_BY_GROUP.format(**_ON_FOLDER)}
    UNION ALL SELECT g.content_object_id{_BY_NAME.format(**_ON_FOLDER)}
    UNION ALL SELECT r.id{_BY_GROUP.format(place=_ROOT, **_ON_BASE)}
    UNION ALL SELECT r.id{_BY_NAME.format(place=_ROOT, **_ON_BASE)}
    UNION ALL {_IN_CONVERSATION}
) AND l.descendant_id NOT IN (SELECT descendant_id FROM denied)
AND ({{within}} IS NULL OR l.descendant_id IN (
    SELECT w.descendant_id FROM {{links}} w WHERE w.ancestor_id = {{within}}
)) AND {_ALIVE}"""  # noqa: S608
BASES = f"""
WITH mine AS MATERIALIZED ({GROUPS}
)
SELECT b.id FROM {{bases}} b
WHERE b.id IN (
    SELECT g.content_object_id{_BY_GROUP.format(place="", **_ON_BASE)}
    UNION ALL SELECT g.content_object_id{_BY_NAME.format(place="", **_ON_BASE)}
) AND ({{within}} IS NULL OR EXISTS (
    SELECT 1 FROM {{folders}} r WHERE r.id = {{within}} AND r.knowledge_base_id = b.id AND r.parent_id IS NULL
)) AND {_ALIVE}
EXCEPT
SELECT d.knowledge_base_id FROM authz_denial d WHERE {_DENIED}"""  # noqa: S608

# With an audience: what the rule gives all of them. People in the same groups without grants or denials of their own
# are computed once. An inactive one leaves nothing.
_PERSON = """
    SELECT u.id, ARRAY(SELECT m.group_id FROM auth_user_groups m WHERE m.user_id = u.id ORDER BY 1) AS groups, CASE WHEN
        EXISTS (SELECT 1 FROM authz_folderusergrant g WHERE g.user_id = u.id)
        OR EXISTS (SELECT 1 FROM authz_knowledgebaseusergrant g WHERE g.user_id = u.id)
        OR EXISTS (SELECT 1 FROM authz_denial d WHERE d.user_id = u.id)
    THEN u.id END AS alone
    FROM auth_user u WHERE u.id = ANY({people}) AND u.is_active"""
ALIKE = f"SELECT array_agg(id ORDER BY id) FROM ({_PERSON}) AS person GROUP BY groups, alone"  # noqa: S608
_ALL = f"""
WITH person AS MATERIALIZED ({_PERSON}
), one AS MATERIALIZED (SELECT min(id) AS id FROM person GROUP BY groups, alone
)
SELECT held.id AS <column> FROM one CROSS JOIN LATERAL (SELECT DISTINCT rule.id FROM (<rule>) AS rule(id)) AS held
WHERE (SELECT count(*) FROM person) = cardinality({{people}})
GROUP BY held.id HAVING count(*) = (SELECT count(*) FROM one)"""  # noqa: S608


def select_folder_ids(principal: Principal, right: Right, *, among: str = "") -> Ids:
    """Return ids of the folders, and of the nodes of documents with exceptions, on which `principal` holds `right`.

    A right is held where it is granted there, on a folder above or on the knowledge base, unless the folder or one on
    the way down to it does not inherit, and where it is denied on none of these. In a conversation, its person may also
    read and add its files.
    among: SQL, without values, of the few ids to check, to avoid walking the whole library.
    """
    rule = f"{FOLDERS} AND l.descendant_id IN ({among})" if among else FOLDERS
    return _build_subquery(_build_audience_rule(principal, rule, "descendant_id"), principal, right)


def select_base_ids(principal: Principal, right: Right) -> Ids:
    """Return ids of the knowledge bases on which `principal` holds `right` as a whole; a token for a folder reaches a
    whole base only where that folder is its root.
    """
    return _build_subquery(_build_audience_rule(principal, BASES, "id"), principal, right)


def select_surrounding_base_ids(principal: Principal, right: Right) -> Ids:
    """Return ids of the knowledge bases in which `principal` holds `right` on a folder, or on a document with exceptions."""
    held = _build_audience_rule(principal, FOLDERS, "descendant_id")
    return _build_subquery(f"SELECT f.knowledge_base_id FROM {{folders}} f WHERE f.id IN ({held})", principal, right)  # noqa: S608


def select_group_ids(principal: Principal) -> Ids:
    """Return ids of the groups of this active person: their own, and those of the units above the units they are in."""
    return _build_subquery(_build_audience_rule(principal, GROUPS, "group_id"), principal, Right.VIEW)


def _build_audience_rule(principal: Principal, rule: str, column: str) -> str:
    """Return the rule for this person; with an audience, for everyone in it. column: its only column."""
    if not principal.audience:
        return rule
    return _ALL.replace("<column>", column).replace("<rule>", rule.replace("{user}", "one.id"))


def _build_subquery(statement: str, principal: Principal, right: Right) -> Ids:
    values = {
        "user": principal.user_id,
        "people": [principal.user_id, *sorted(principal.audience)],
        "folder_codename": f"{right.value}_folder",
        "base_codename": f"{right.value}_knowledgebase",
        "right": right.value,
        "within": principal.folder_id,
        "token": principal.token_id,
        "conversation": principal.conversation_id,
    }
    sql, names = _prepare_statement(statement)
    return RawSQL(sql, [values[name] for name in names])  # noqa: S611


@cache
def _prepare_statement(statement: str) -> tuple[str, list[str]]:
    """Return the statement with its tables and placeholders for its values, and the values' names in order."""
    tables = require_tree().tables()
    return statement.format(**PLACES, **tables), [name for name in NAMES.findall(statement) if name not in tables]
