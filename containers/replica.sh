# Run by the service replica: copies the primary the first time, then follows it. The slot makes the primary keep what the
# replica has not read yet, up to max_slot_wal_keep_size.
set -e
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # Complete or not there at all, even if the container is stopped meanwhile.
  copy=$PGDATA.copy
  mkdir -p "$(dirname "$PGDATA")"
  rm -rf "$copy"
  psql -v ON_ERROR_STOP=1 --quiet --no-psqlrc --host=postgres --username=postgres --dbname=longshore --output=/dev/null \
    --command="select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = 'replica'"
  pg_basebackup --host=postgres --username=postgres --pgdata="$copy" --write-recovery-conf --create-slot --slot=replica --checkpoint=fast
  rm -rf "$PGDATA"
  mv "$copy" "$PGDATA"
fi
exec docker-entrypoint.sh "$@"
