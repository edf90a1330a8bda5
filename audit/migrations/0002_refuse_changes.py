"""The database itself refuses to change, delete or empty the audit log."""

from django.db import migrations

REFUSE = """
CREATE FUNCTION audit_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit entries are never changed or deleted (% on %)', TG_OP, TG_TABLE_NAME;
END $$;
CREATE TRIGGER audit_entry_append_only BEFORE UPDATE OR DELETE ON audit_entry
    FOR EACH ROW EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_entry_no_truncate BEFORE TRUNCATE ON audit_entry
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
"""
ALLOW = """
DROP TRIGGER audit_entry_append_only ON audit_entry;
DROP TRIGGER audit_entry_no_truncate ON audit_entry;
DROP FUNCTION audit_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]
    operations = [migrations.RunSQL(REFUSE, ALLOW)]
