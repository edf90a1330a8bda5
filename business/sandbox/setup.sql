-- Two functions through which one account, and nobody else, makes and removes roles that can do nothing but sign in.
-- The account itself needs no CREATEROLE. Run as the administrator of the server, in the database with the business data.
CREATE SCHEMA IF NOT EXISTS copilot_walls;
REVOKE ALL ON SCHEMA copilot_walls FROM PUBLIC;

CREATE OR REPLACE FUNCTION copilot_walls.create_role(role_name text, role_password text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
  setting record;
BEGIN
  IF role_name !~ '^copilot_wall_[0-9a-f]{24}$' THEN
    RAISE EXCEPTION 'copilot_walls.create_role makes no role of the name %', role_name;
  END IF;
  EXECUTE format('CREATE ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS '
                 'CONNECTION LIMIT {connections} PASSWORD %L', role_name, role_password);
  EXECUTE format('ALTER ROLE %I SET search_path = %I', role_name, role_name);
  FOR setting IN
    SELECT wanted.name, wanted.value FROM (VALUES {settings}) AS wanted(name, value)
    WHERE wanted.name IN (SELECT known.name FROM pg_settings AS known)  -- an older server has not all of them
  LOOP
    BEGIN
      EXECUTE format('ALTER ROLE %I SET %I = %L', role_name, setting.name, setting.value);
    EXCEPTION WHEN insufficient_privilege THEN NULL;  -- temp_file_limit, where the administrator is no superuser
    END;
  END LOOP;
END $body$;

CREATE OR REPLACE FUNCTION copilot_walls.drop_role(role_name text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
  IF role_name !~ '^copilot_wall_[0-9a-f]{24}$' THEN
    RAISE EXCEPTION 'copilot_walls.drop_role removes no role of the name %', role_name;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
    RETURN;
  END IF;
  BEGIN
    EXECUTE format('DROP ROLE %I', role_name);
  EXCEPTION WHEN dependent_objects_still_exist THEN  -- somebody gave it more than its views
    EXECUTE format('DROP OWNED BY %I', role_name);
    EXECUTE format('DROP ROLE %I', role_name);
  END;
END $body$;

REVOKE ALL ON FUNCTION copilot_walls.create_role(text, text), copilot_walls.drop_role(text) FROM PUBLIC;
