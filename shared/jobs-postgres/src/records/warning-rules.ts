import {
  checkWarningRules,
  ruleContent,
  type RuleSynchronization,
  type StoredWarningRule,
  type WarningRule,
  type WarningRules,
} from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import { runOnConnection } from '../connection/run.js';
import { prepared } from '../connection/statement.js';

interface RuleRow {
  readonly application: string;
  readonly name: string;
  readonly rule: Omit<WarningRule, 'name'>;
  readonly updated_at: Date;
  readonly [column: string]: unknown;
}

/** Stores the rules for warnings that applications define in code. */
export class PostgresWarningRules implements WarningRules {
  readonly #database: Database;
  readonly #reads: Database;

  constructor({ database, reads }: { database: Database; reads: Database }) {
    this.#database = database;
    this.#reads = reads;
  }

  async list(): Promise<StoredWarningRule[]> {
    const rows = await this.#reads.query<RuleRow>(selectRules);
    return rows.map(({ application, name, rule, updated_at: updatedAt }) => ({
      application,
      name,
      ...rule,
      updatedAt,
    }));
  }

  async synchronize(application: string, rules: readonly WarningRule[]): Promise<RuleSynchronization> {
    checkWarningRules('synchronize', rules);
    const names = rules.map(({ name }) => name);
    const contents = rules.map((rule) => JSON.stringify(ruleContent(rule)));
    return this.#database.transaction(async (client) => {
      const run = runOnConnection(client);
      const removed = await run(deleteOtherRules, [application, names]);
      const changed = await run(upsertRules, [application, names, contents]);
      return { changed: namesIn(changed), removed: namesIn(removed) };
    });
  }
}

function namesIn(rows: readonly unknown[]): string[] {
  return (rows as readonly Pick<RuleRow, 'name'>[]).map(({ name }) => name).toSorted();
}

export const selectRules = prepared(
  'longshore-select-warning-rules',
  'select application, name, rule, updated_at from longshore.warning_rule order by application, name limit 1000',
);

/** $1 application, $2 names. Deletes the application's rules with other names. */
export const deleteOtherRules = prepared(
  'longshore-delete-other-warning-rules',
  'delete from longshore.warning_rule where application = $1 and name <> all($2::text[]) returning name',
);

/** $1 application; parallel arrays: $2 names, $3 rules. Returns the names of the rules that were added or changed. */
export const upsertRules = prepared(
  'longshore-upsert-warning-rules',
  `
    insert into longshore.warning_rule as stored (application, name, rule)
    select $1::text, name, rule from unnest($2::text[], $3::jsonb[]) as new (name, rule) order by name
    on conflict (application, name) do update set rule = excluded.rule, updated_at = excluded.updated_at
      where stored.rule <> excluded.rule
    returning name`,
);
