"""Index the documents that earlier entries showed without naming them: of searches, and of shared and replayed answers."""

from django.db import migrations

INSERT = "INSERT INTO audit_shown (entry_id, document_id, how, at, person_id)"
READABLE = "e.at BETWEEN '0002-01-01' AND '9999-12-30'"
UUID = "'^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'"

# passages of a search that are there still
SEARCHES = f"""
{INSERT}
SELECT DISTINCT e.id, v.document_id, 'passage', e.at, e.actor_id
FROM audit_entry e
CROSS JOIN LATERAL jsonb_array_elements_text(
    CASE jsonb_typeof(e.detail -> 'chunks') WHEN 'array' THEN e.detail -> 'chunks' ELSE '[]' END) AS passage
JOIN knowledge_chunk c ON c.id::text = passage
JOIN knowledge_documentversion v ON v.id = c.version_id
WHERE e.action = 'search.performed' AND {READABLE}
ON CONFLICT DO NOTHING;
"""

# an answer that was replayed, or a file that was made for it
ANSWERS = f"""
{INSERT}
SELECT DISTINCT e.id, c.document_id, showing.how, e.at, e.actor_id
FROM audit_entry e
JOIN (VALUES ('answer.replayed', 'replayed'), ('skill.file_downloaded', 'downloaded')) AS showing (action, how) USING (action)
JOIN agent_citation c ON c.message_id::text = e.run_id
WHERE {READABLE}
ON CONFLICT DO NOTHING;
"""

# the path of a shared conversation from its last answer up
SHARES = f"""
{INSERT}
WITH RECURSIVE way (entry_id, at, actor_id, message_id, parent_id) AS (
    SELECT e.id, e.at, e.actor_id, m.id, m.parent_id
    FROM audit_entry e JOIN agent_message m ON m.id = (e.detail ->> 'up_to')::uuid
    WHERE e.action = 'conversation.shared' AND e.detail ->> 'up_to' ~ {UUID} AND {READABLE}
    UNION
    SELECT way.entry_id, way.at, way.actor_id, m.id, m.parent_id FROM way JOIN agent_message m ON m.id = way.parent_id
)
SELECT DISTINCT way.entry_id, c.document_id, 'shared', way.at, way.actor_id
FROM way JOIN agent_citation c USING (message_id)
ON CONFLICT DO NOTHING;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("agent", "0003_verified_answers"),
        ("audit", "0002_shown"),
        ("knowledge", "0003_graph_by_form_alone"),
    ]

    operations = [migrations.RunSQL(statement, migrations.RunSQL.noop) for statement in (SEARCHES, ANSWERS, SHARES)]
