from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("agent", "0022_ask_before_the_web_is_searched"),
    ]

    operations = [
        migrations.AddField(
            model_name="message",
            name="attachments",
            field=models.JSONField(default=list, editable=False),
        ),
    ]
