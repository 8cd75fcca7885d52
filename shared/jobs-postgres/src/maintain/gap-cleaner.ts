import type { Database } from '../connection/database.js';
import { deleteGaps, oldestTransaction } from '../jobs/ready-scans.sql.js';

/**
 * How long, in milliseconds, scan gaps are kept after their transactions have ended. A server that has not read the
 * gaps for half of this time restarts its scans.
 */
const keptMs = 60_000;

/** Deletes scan gaps once every server has read them or no longer needs them. */
export class GapCleaner {
  readonly #database: Database;
  /** The oldest transaction that was in progress at `atMs`; all earlier ones had ended by then. */
  #endedBefore: { readonly xid: string; readonly atMs: number } | undefined;
  /**
   * The gaps of all transactions with ids lower than this one have been deleted. The next deletion starts here, so that
   * it does not scan the dead index entries of those gaps.
   */
  #deletedBefore = '0';

  constructor(database: Database) {
    this.#database = database;
  }

  async runOnce(nowMs = performance.now()): Promise<void> {
    const ended = this.#endedBefore;
    if (ended !== undefined && nowMs - ended.atMs < keptMs) return;
    if (ended !== undefined) {
      await this.#database.query(deleteGaps, [this.#deletedBefore, ended.xid]);
      this.#deletedBefore = ended.xid;
    }
    const [row] = await this.#database.query<{ xid: string }>(oldestTransaction);
    if (row !== undefined) this.#endedBefore = { xid: row.xid, atMs: nowMs };
  }
}
