# Run once by the Postgres image, for a new database: creates the role of the services. It owns the schemas below and
# nothing else, so it has no access to other data, roles or settings of the server.
psql -v ON_ERROR_STOP=1 --quiet --no-psqlrc --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
\getenv password SERVICES_PASSWORD
create role longshore login nosuperuser nocreatedb nocreaterole noreplication password :'password';
revoke all on database :"DBNAME" from public;
grant connect, temporary on database :"DBNAME" to longshore;
revoke all on schema public from public;
grant usage on schema public to longshore;
create extension pg_trgm with schema public;
-- The jobs, the API's keys, and the tables of this application.
create schema longshore authorization longshore;
create schema longshore_api authorization longshore;
create schema app authorization longshore;
SQL
