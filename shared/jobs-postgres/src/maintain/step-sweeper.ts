import type { Statement } from '../connection/statement.js';
import type { Database } from '../connection/database.js';
import { type SweptJobRow, sweepSignals, sweepSteps } from '../steps/steps.sql.js';

/** Maximum number of jobs that one statement looks for. */
const chunk = 500;

/** Pause after a chunk with few jobs that are gone, and at the end of the table, in milliseconds. */
const restMs = 60_000;

const start: readonly [queueId: number, jobId: string] = [0, '00000000-0000-0000-0000-000000000000'];

/** Deletes the steps and signals of jobs whose history has been dropped. Scans the tables in chunks, with pauses in between. */
export class StepSweeper {
  readonly #database: Database;
  readonly #scans = [sweepSteps, sweepSignals].map((statement) => ({
    statement,
    after: start,
    restsUntil: -Infinity,
  }));

  constructor(database: Database) {
    this.#database = database;
  }

  /** Scans the next chunk of each table that is not resting. */
  async runOnce(nowMs = performance.now()): Promise<void> {
    for (const scan of this.#scans) {
      if (nowMs < scan.restsUntil) continue;
      const rows = await this.#sweep(scan.statement, scan.after);
      const last = rows.length < chunk ? undefined : rows.at(-1);
      scan.after = last === undefined ? start : [last.queue_id, last.job_id];
      if (2 * rows.filter(({ gone }) => gone).length < rows.length || last === undefined)
        scan.restsUntil = nowMs + restMs;
    }
  }

  #sweep(statement: Statement, after: typeof start): Promise<SweptJobRow[]> {
    return this.#database.query<SweptJobRow>(statement, [...after, chunk]);
  }
}
