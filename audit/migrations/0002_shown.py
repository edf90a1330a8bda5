"""The index of which document was shown to whom, filled from the entries that there are; `agent` adds what they do not name."""

import django.db.models.deletion
from django.db import migrations, models

# `audit.shown.FILL` as of this migration, for all entries with a time that can be read
FILL = """
WITH entry AS (
    SELECT e.id, e.at, e.actor_id, e.target_type, e.target_id, e.detail, showing.how
    FROM public.audit_entry e
    JOIN (VALUES
        ('question.answered', 'quoted'), ('evidence.shown', 'passage'), ('search.performed', 'passage'),
        ('document.opened', 'opened'), ('document.page_image_shown', 'opened'), ('conversation.read', 'reread'),
        ('document.downloaded', 'downloaded'), ('skill.file_downloaded', 'downloaded'),
        ('conversation.exported', 'exported'), ('conversation.shared', 'shared'), ('answer.replayed', 'replayed')
    ) AS showing (action, how) USING (action)
    WHERE e.at BETWEEN '0002-01-01' AND '9999-12-30'
), named AS (
    SELECT id, at, actor_id, how, list.name, value
    FROM entry
    CROSS JOIN (VALUES ('documents'), ('cited'), ('evidence')) AS list (name)
    CROSS JOIN LATERAL jsonb_array_elements_text(
        CASE jsonb_typeof(detail -> list.name) WHEN 'array' THEN detail -> list.name ELSE '[]' END) AS value
    UNION ALL
    SELECT id, at, actor_id, how, 'target', target_id FROM entry WHERE target_type = 'document'
)
INSERT INTO public.audit_shown (entry_id, document_id, how, at, person_id)
SELECT id, document_id::uuid, CASE WHEN how = 'quoted' AND bool_and(name = 'evidence') THEN 'read' ELSE how END, at, actor_id
FROM named CROSS JOIN LATERAL
    substring(value FROM '^(?:doc:)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?::|$)') AS document_id
WHERE document_id IS NOT NULL
GROUP BY id, document_id, how, at, actor_id
ON CONFLICT DO NOTHING;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Shown',
            fields=[
                ('pk', models.CompositePrimaryKey('entry_id', 'document_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('document_id', models.UUIDField()),
                ('how', models.CharField(max_length=12)),
                ('at', models.DateTimeField()),
                ('person_id', models.BigIntegerField(null=True)),
                ('entry', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='audit.entry')),
            ],
            options={
                'indexes': [models.Index(fields=['document_id', '-at'], name='audit_shown_document_idx'), models.Index(fields=['person_id', '-at'], name='audit_shown_person_idx')],
            },
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
