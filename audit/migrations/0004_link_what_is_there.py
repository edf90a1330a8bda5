"""Entries from before the chain get their hashes, and their places in the order in which they were written."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.db import migrations

from audit.models import seal
from audit.verify_export import GENESIS, link_hash

BATCH = 1000  # rows
SEALED = ("reason", "target_type", "target_name", "personal", "salts", "content_hash")


def link_entries(apps: Any, schema_editor: Any) -> None:
    entries, links = apps.get_model("audit", "Entry"), apps.get_model("audit", "Link")
    seq, before = 0, GENESIS
    rows: Iterator[Any] = entries.objects.order_by("id").iterator(BATCH)
    while batch := list(islice(rows, BATCH)):
        made = []
        for entry in batch:
            if entry.action == "auth.sign_in_failed":  # the name that was typed is personal, and reasons are not erasable
                entry.target_type, entry.target_name, entry.reason = "user", entry.reason, ""
            seal(entry)
            seq += 1
            before = link_hash(before, seq, entry.content_hash)
            made.append(links(seq=seq, entry_id=entry.pk, hash=before))
        entries.objects.bulk_update(batch, SEALED, batch_size=BATCH)
        links.objects.bulk_create(made)
    if seq:
        apps.get_model("audit", "Head").objects.create(seq=seq, hash=before)


class Migration(migrations.Migration):
    dependencies = [("audit", "0003_links_checkpoints_and_hashes")]
    operations = [migrations.RunPython(link_entries, migrations.RunPython.noop)]
