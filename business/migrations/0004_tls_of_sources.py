from django.db import migrations, models


def clear_text_on_this_machine(apps, schema_editor):
    """What is reached without a network stays as it was; everything else must prove its name from now on (docs/how-to/upgrade.md)."""
    apps.get_model("business", "DataSource").unscoped.filter(host__in=["localhost", "127.0.0.1", "::1"]).update(tls="disable")


class Migration(migrations.Migration):

    dependencies = [
        ('business', '0003_name_holders_of_grants'),
    ]

    operations = [
        migrations.AddField(
            model_name='datasource',
            name='tls',
            field=models.CharField(choices=[('verify-full', 'encrypted, the server proves its name by a certificate'), ('require', 'encrypted, whoever answers'), ('disable', 'clear text')], default='verify-full', max_length=11, verbose_name='encryption'),
        ),
        migrations.RunPython(clear_text_on_this_machine, migrations.RunPython.noop),
    ]
