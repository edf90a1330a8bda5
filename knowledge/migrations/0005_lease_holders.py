from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0004_unfinished_versions")]

    operations = [
        migrations.AddField(
            model_name=model,
            name="lease_holder",
            field=models.CharField(max_length=120, default="", db_default="", editable=False),
        )
        for model in ("documentversion", "sourcerun")
    ]
