from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("agent", "0018_keep_the_scope_of_a_conversation"),
    ]

    operations = [
        migrations.AddField(
            model_name="message",
            name="attachments",
            field=models.JSONField(default=list, editable=False),
        ),
    ]
