from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('knowledge', '0010_sources_of_documents'),
    ]

    operations = [
        migrations.AddField(
            model_name='sourceitem',
            name='is_left_out',
            field=models.BooleanField(default=False, editable=False),
        ),
    ]
