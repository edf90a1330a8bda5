from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("agent", "0020_answer_in_chat_platforms"),
    ]

    operations = [
        migrations.AddField(
            model_name="message",
            name="attachments",
            field=models.JSONField(default=list, editable=False),
        ),
    ]
