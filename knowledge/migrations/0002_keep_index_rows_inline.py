"""A row of the index is read whole by every scan; moved out of line (TOAST) it is several times slower to read.

Packed token vectors are the opposite: read by key, and made of bits that do not compress.
"""

from django.db import migrations

KEEP_INLINE = "ALTER TABLE knowledge_chunkindex SET (toast_tuple_target = 8160)"
BACK = "ALTER TABLE knowledge_chunkindex RESET (toast_tuple_target)"


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0001_initial")]
    operations = [
        migrations.RunSQL(KEEP_INLINE, BACK),
        migrations.RunSQL("ALTER TABLE knowledge_chunktokens ALTER packed SET STORAGE EXTERNAL", migrations.RunSQL.noop),
    ]
