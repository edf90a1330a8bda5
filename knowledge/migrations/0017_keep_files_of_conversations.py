import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("knowledge", "0016_cut_bases_otherwise"),
    ]

    operations = [
        migrations.AddField(
            model_name="folder",
            name="owner",
            field=models.ForeignKey(
                db_index=False,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            model_name="folder",
            name="kind",
            field=models.CharField(
                choices=[
                    ("folder", "folder"),
                    ("document", "exception for one document"),
                    ("attached", "files of a conversation"),
                ],
                default="folder",
                editable=False,
                max_length=8,
            ),
        ),
    ]
