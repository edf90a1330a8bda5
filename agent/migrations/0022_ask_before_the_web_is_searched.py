from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agent', '0021_sign_in_to_services_by_oauth'),
    ]

    operations = [
        migrations.AddField(
            model_name='websearchprovider',
            name='asks_first',
            field=models.BooleanField(default=False, help_text='Whoever asks sees the exact words, and allows each search before they leave the company.', verbose_name='ask before a question leaves'),
        ),
    ]
