import django.contrib.postgres.fields
from django.db import migrations, models

import business.models

DEMO = ("demo", "_demo_data")  # name of the source, and what its database is called behind the product's own
SYSTEM = ("pg_", "information_schema", "copilot_wall")


def settle(apps, schema_editor):
    """Keep the demo's source as one that the product made; switch off every other that led to the product's own server.

    A source keeps the schemas that its layer names, less the server's own.
    """
    sources = apps.get_model("business", "DataSource")
    name, suffix = DEMO
    own = schema_editor.connection.settings_dict["NAME"]
    for source in sources._base_manager.all():
        named = {table.get("schema", "public") for table in source.layer.get("semantic_models", ())}
        source.schemas = sorted({"public", *(one for one in named if one and not one.lower().startswith(SYSTEM))})
        if not source.host:
            source.is_embedded = (source.name, source.database) == (name, f"{own}{suffix}")
            if not source.is_embedded and source.is_active:
                source.is_active = False
                print(  # noqa: T201  # where the operator looks during an upgrade
                    f"\n    The data source {source.name} led to the product's own server and is switched off: enter the host of "
                    "the server with its data, see docs/how-to/add-a-data-source.md."
                )
        source.save(update_fields=["schemas", "is_embedded", "is_active"])


class Migration(migrations.Migration):

    dependencies = [
        ('business', '0005_bind_passwords_to_addresses'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='datasource',
            options={
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
                'ordering': ('name',),
                'permissions': [('change_connection', 'Can set the address, account and schemas of data sources')],
                'verbose_name': 'data source',
                'verbose_name_plural': 'data sources',
            },
        ),
        migrations.AddField(
            model_name='datasource',
            name='is_embedded',
            field=models.BooleanField(default=False, editable=False),
        ),
        migrations.AddField(
            model_name='datasource',
            name='schemas',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=63), default=business.models.public_schema, help_text='Names by comma. The semantic layer can only name tables and views of these.', size=None, verbose_name='schemas'),
        ),
        migrations.AlterField(
            model_name='datasource',
            name='host',
            field=models.CharField(blank=True, max_length=255, verbose_name='host'),
        ),
        migrations.RunPython(settle, migrations.RunPython.noop),
    ]
