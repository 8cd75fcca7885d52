# Run by the service citus-setup once the three nodes are up: tells the coordinator about itself and the workers. Repeatable.
until pg_isready --quiet --host=citus --username=postgres --dbname=longshore; do sleep 1; done
psql -v ON_ERROR_STOP=1 --quiet --no-psqlrc --host=citus --username=postgres --dbname=longshore <<'SQL'
select citus_set_coordinator_host('citus', 5432);
select citus_add_node('citus-worker-1', 5432);
select citus_add_node('citus-worker-2', 5432);
SQL
