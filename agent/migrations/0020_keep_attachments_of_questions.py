from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("agent", "0019_let_keepers_see_questions"),
    ]

    operations = [
        migrations.AddField(
            model_name="message",
            name="attachments",
            field=models.JSONField(default=list, editable=False),
        ),
    ]
