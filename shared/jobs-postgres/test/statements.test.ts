import { readdir, readFile, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import pg from 'pg';
import { staticStatements } from '../src/connection/statement.js';
import { createStoreDatabase } from './support/store-database.js';

const source = new URL('../src/', import.meta.url);
const snapshot = new URL('statements.sql', import.meta.url);

/**
 * Compares every statement whose text does not depend on the request with the snapshot in `statements.sql`. After a
 * change, update the snapshot with `WRITE_STATEMENTS=1 npx mocha shared/jobs-postgres/test/statements.test.ts` and
 * review its diff.
 */
describe('The static statements', () => {
  let statements: readonly (readonly [name: string, sql: string])[];

  before(async () => {
    const files = await readdir(source, { recursive: true });
    await Promise.all(
      files.filter((file) => file.endsWith('.sql.ts')).map((file) => import(`../src/${file}`)),
    );
    await import('../src/index.js');
    statements = Array.from(staticStatements(), ([name, { text }]) => [name, text]);
  });

  it('match statements.sql', async () => {
    const text = await snapshotOf(statements);
    if (process.env['WRITE_STATEMENTS'] !== undefined) await writeFile(snapshot, text);
    expect(text).to.equal(await readFile(snapshot, 'utf8'));
  });

  it('join two of their own parts only if one of them is small, because hash joins are off', () => {
    const joined = statements.flatMap(([name, sql]) => {
      const parts = new Set(Array.from(sql.matchAll(/(\w+) as (?:materialized )?\(/g), ([, part]) => part));
      return Array.from(sql.matchAll(/from (\w+)\s+(?:left |cross )?join (\w+)/g))
        .filter(([, left, right]) => parts.has(left) && parts.has(right))
        .map(([, left, right]) => `${name}: ${left}, ${right}`);
    });
    expect(joined.toSorted()).to.deep.equal([
      'longshore-claim-within-limits: setting, claimed', // one of the two has only one row
      'longshore-declare-servers-dead: silent, dead', // at most as many rows as there are servers
      'longshore-resume-type-when-due: resumed, gap', // one of the two has only one row
      'longshore-resume-type: resumed, gap', // one of the two has only one row
      'longshore-sweep-unique: seen, stale', // at most 1,000 keys
    ]);
  });

  /**
   * Why a statement without a limit of its own cannot return more rows than its reader can hold, by the names of the
   * statements without the prefix `longshore-`. The other statements return at most one row, or rows that their
   * parameters name, or have a limit.
   */
  const boundedOtherwise: Readonly<Record<string, string>> = {
    'one job, which the parameters name': `find-bare-jobs find-documents find-job find-new-queue find-small-jobs find-undocumented-jobs release-awaiting`,
    'one row, which the statement writes or a table has': `end-transaction find-chores insert-aside insert-bulk
      insert-deployment insert-recurring-job lock-bucket lock-incident-turn lock-installation measure-backlog pause-copy retire-queue
      select-installation select-last-place
      take-incident-turn upsert-recurring-job upsert-saved-search settled-up-to`,
    'an inner limit among the parameters': `next-due record-keys-with-room rescue-jobs select-blocking-keys
      select-earlier-failed select-earlier-failed-of select-heads select-heads-from select-latest-failed
      select-latest-failed-of select-name-timings select-reports select-reports-of-job select-stalled-leases
      select-transitions select-waiting-names sweep-job_signal sweep-job_step sweep-unique take-outbox-entries`,
    'the jobs or batches that an array parameter names': `find-job-results find-jobs lock-editable-job lock-parent-batches
      move-cancel-ready move-rename-ready move-retry-cancelled move-retry-failed move-retry-ignoring-dependencies-cancelled
      move-retry-ignoring-dependencies-failed select-documents`,
    'the jobs that one server runs: its concurrency': 'select-claims',
    'the steps of one job, all of which its page shows': 'lock-steps-from',
    'the roles of set-aside items, or the items of one role: 1,000': 'count-aside select-excluded-keys',
    'the servers, or the sessions of the database, which are fewer than its connections': `declare-servers-dead
      end-transactions select-servers`,
    'the states of jobs: seven': 'select-holding select-totals',
    'the queues, which DATABASE_MAX_QUEUES limits': `select-waking resume-type resume-type-when-due select-counts select-queues
      select-throughput-by-queue`,
    'the days of the retention': 'select-expired select-indexed-days select-missing-days',
    'the buckets of a period that the product chooses': 'select-histories select-measured select-throughput',
    'the notifications that the parameters contain': 'notify',
    'the rules of an application, of which the statements that store them write 100 at most':
      'delete-other-warning-rules',
    'the saved searches, whose number the statement that saves one limits': 'select-saved-searches',
    'the paused types, each paused by an operator; every claim needs all of them': 'select-paused-types',
  };

  it('return one row, rows that their parameters name, or rows up to a limit', () => {
    const reasons = Object.values(boundedOtherwise).flatMap((names) => names.split(/\s+/));
    const unlimited = statements
      .filter(([, sql]) => !isBounded(sql))
      .map(([name]) => name.replace('longshore-', ''));
    expect(unlimited.toSorted()).to.deep.equal(reasons.toSorted());
  });

  it('return nothing of the type void, which Prisma cannot read', async () => {
    const database = await createStoreDatabase();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    for (const [name, text] of statements) await client.query(`prepare "${name}" as ${text}`);
    // Reads the column `result_types` through JSON, because Postgres 15 does not have this column.
    const { rows } = await client.query<{ name: string }>(
      `select name from pg_prepared_statements as prepared where to_jsonb(prepared) -> 'result_types' ? 'void'`,
    );
    await client.end();
    await database.drop();
    expect(rows).to.deep.equal([]);
  });
});

/** Returns all statements by folder and file, after a table of contents. */
async function snapshotOf(statements: readonly (readonly [name: string, sql: string])[]): Promise<string> {
  const files = await readdir(source, { recursive: true });
  const texts = new Map<string, string>();
  for (const file of files.filter((name) => name.endsWith('.ts')).toSorted())
    texts.set(file, await readFile(new URL(file, source), 'utf8'));
  const byFile = new Map<string, [name: string, sql: string][]>();
  for (const [name, sql] of statements) {
    const file = fileOf(name, texts);
    byFile.set(file, [...(byFile.get(file) ?? []), [name, sql]]);
  }
  const sections = [...byFile].toSorted(([left], [right]) => (left < right ? -1 : 1));
  const contents = sections.map(
    ([file, { length }]) => `--   src/${file} (${length} ${length === 1 ? 'statement' : 'statements'})\n`,
  );
  const bodies = sections.map(([file, ofFile]) => {
    const sorted = ofFile.toSorted(([left], [right]) => (left < right ? -1 : 1));
    const body = sorted.map(([name, sql]) => `-- ${name}\n${outdented(sql)};\n`).join('\n');
    return `-- ==== src/${file} ====\n\n${body}`;
  });
  return `-- Every statement whose text does not depend on the request, as Postgres gets it.\n--\n${contents.join('')}\n${bodies.join('\n')}`;
}

/**
 * Returns the file that defines a statement: the one with its name or, if the name is made of parts, with the longest
 * beginning of it.
 */
function fileOf(name: string, texts: ReadonlyMap<string, string>): string {
  for (let length = name.length; length > 'longshore-'.length; length--) {
    const beginning = name.slice(0, length);
    for (const [file, text] of texts)
      if (["'", '`', '${'].some((end) => text.includes(beginning + end))) return file;
  }
  throw new Error(`No file defines ${name}`);
}

/** Returns whether the text alone shows that a statement returns no rows, one, those that its parameters name, or up to a limit. */
function isBounded(sql: string): boolean {
  const outer = outerPartOf(sql);
  const [, verb = '', rest = ''] = /^.*?\b(select|insert|update|delete)\b(.*)$/s.exec(outer) ?? [];
  if (verb !== 'select' && !/\breturning\b/.test(rest)) return true;
  if (/\blimit\b/.test(rest)) return true;
  if (verb === 'select' && !/\bfrom\b/.test(rest) && !rest.includes('unnest')) return true;
  if (verb === 'select' && !rest.includes('group by') && /^ (coalesce|count|max|min|sum)\(\)/.test(rest))
    return true;
  if (/(any|unnest)\(\$/.test(sql) && !sql.includes('is null or')) return true;
  return /\b(id|key|name) = \$\d/.test(rest);
}

/** Returns a statement without what is in parentheses. */
function outerPartOf(sql: string): string {
  let depth = 0;
  return Array.from(sql, (character) => {
    if (character === '(') depth += 1;
    const shown = depth === 0 || (depth === 1 && '()'.includes(character)) ? character : '';
    if (character === ')') depth -= 1;
    return shown;
  }).join('');
}

function outdented(sql: string): string {
  const lines = sql.trimEnd().split('\n');
  if (lines[0]?.trim() === '') lines.shift();
  const depth = Math.min(...lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/)));
  return lines.map((line) => line.slice(depth).trimEnd()).join('\n');
}
