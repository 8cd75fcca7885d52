import {
  automaticActor,
  automaticFilter,
  type ControlOptions,
  type Installation,
  type InstallationState,
  pauseCopyAction,
} from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import { runOnConnection } from '../connection/run.js';
import { prepared } from '../connection/statement.js';
import { inTransaction, recordEntry } from './audit.js';

interface InstallationRow {
  readonly paused_at: Date | null;
  readonly [column: string]: unknown;
}

/** Pauses a copy of a database, such as a restored backup, until an operator resumes it. */
export class PostgresInstallation implements Installation {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async read(): Promise<InstallationState> {
    const [row] = await this.#database.query<InstallationRow>(selectInstallation);
    return this.#stateOf(row);
  }

  async pauseCopy(): Promise<InstallationState> {
    await this.#database.transaction(async (client) => {
      const run = runOnConnection(client);
      if ((await run(pauseCopy, [])).length === 0) return;
      await run(deleteMessages, []);
      await run(deleteTargets, []);
      const entry = { who: automaticActor, action: pauseCopyAction, target: this.#name };
      await recordEntry(run, { ...entry, filter: automaticFilter, count: 1 });
    });
    return this.read();
  }

  async resume(
    name: string,
    options: ControlOptions<InstallationState, InstallationState | null> = {},
  ): Promise<InstallationState | null> {
    return inTransaction(this.#database, options, async (run, record) => {
      const [row] =
        name === this.#name ? ((await run(lockInstallation, [])) as readonly InstallationRow[]) : [];
      const before = name === this.#name ? this.#stateOf(row) : null;
      if (before !== null) options.check?.(before);
      if (before !== null && before.pausedAt !== null) await run(resumeInstallation, []);
      await record(before);
      return before;
    });
  }

  get #name(): string {
    return this.#database.schema.name;
  }

  #stateOf(row: InstallationRow | undefined): InstallationState {
    return { name: this.#name, pausedAt: row?.paused_at ?? null };
  }
}

/**
 * Identifies the database: a dump is restored into another one, and recovery to a point in time begins another timeline. So
 * does a failover, which cannot be told apart.
 */
const fingerprint = `concat_ws(' ', (select system_identifier from pg_control_system()),
  (select oid from pg_database where datname = current_database()), left(pg_walfile_name(pg_current_wal_lsn()), 8))`;

/** No row if the installation has never been paused. */
export const selectInstallation = prepared(
  'longshore-select-installation',
  'select paused_at from longshore.installation',
);

export const lockInstallation = prepared(
  'longshore-lock-installation',
  'select paused_at from longshore.installation for update',
);

/** Pauses unless it is paused, or was resumed in this database. Returns no row if nothing was changed. */
export const pauseCopy = prepared(
  'longshore-pause-copy',
  `
    insert into longshore.installation as stored (fingerprint, paused_at) values (${fingerprint}, now())
    on conflict (is_only) do update set fingerprint = excluded.fingerprint, paused_at = excluded.paused_at
      where stored.paused_at is null and stored.fingerprint <> excluded.fingerprint
    returning paused_at`,
);

export const resumeInstallation = prepared(
  'longshore-resume-installation',
  `update longshore.installation set paused_at = null, fingerprint = ${fingerprint}`,
);

export const deleteMessages = prepared(
  'longshore-delete-alert-messages',
  'delete from longshore.alert_message',
);

export const deleteTargets = prepared('longshore-delete-alert-targets', 'delete from longshore.alert_target');
