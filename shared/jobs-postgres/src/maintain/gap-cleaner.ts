import type { Database } from '../connection/database.js';
import { deleteGaps, oldestTransaction } from '../claim/ready-scans.sql.js';

/**
 * How long gaps are kept after their transactions have ended. A server that has not read them for half as long restarts its
 * scans.
 */
const keptMs = 60_000;

/** Deletes gaps that every server has either read or no longer needs. */
export class GapCleaner {
  readonly #database: Database;
  /** The oldest transaction in progress at some time; all earlier ones have ended. */
  #endedBefore: { readonly xid: string; readonly atMs: number } | undefined;
  /** The gaps of transactions before this one have been deleted; starting here avoids scanning their dead entries. */
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
