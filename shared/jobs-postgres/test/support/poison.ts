import type { TestDatabase } from '@longshore/test-support';

export const history = ['job_history_done', 'job_history_failed', 'job_history_cancelled'];

/** Drops the check constraints on the values in these tables, so that tests can write rows that are out of bounds. */
export async function dropBounds(database: TestDatabase, ...tables: string[]): Promise<void> {
  for (const table of tables)
    await database.query(`alter table longshore.${table} drop constraint if exists ${table}_bounds`);
}

/** Makes inserts and updates in the tables fail for jobs whose arguments have a member `poison`. */
export async function rejectPoison(database: TestDatabase, ...tables: string[]): Promise<void> {
  await database.query(`
    create or replace function longshore.refuse() returns trigger language plpgsql as $$
    begin
      if new.args ? 'poison' then raise 'poisoned'; end if;
      return new;
    end $$`);
  for (const table of tables)
    await database.query(`
      create trigger refuse before insert or update on longshore.${table} for each row execute function longshore.refuse()`);
}

/** Undoes {@link rejectPoison}. */
export async function acceptPoison(database: TestDatabase): Promise<void> {
  await database.query('drop function longshore.refuse() cascade');
}
