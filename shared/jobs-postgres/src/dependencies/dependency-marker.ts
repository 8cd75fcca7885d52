import type { Connection } from '../connection/connection.js';
import { arrayOf } from '../connection/array-literal.js';
import type { Database } from '../connection/database.js';
import { isOfData } from '../connection/errors.js';
import { allOrNothing, bisecting, type Isolate } from '../connection/isolation.js';
import type { PostgresSetAside } from '../records/set-aside.js';
import {
  type DependencyRow,
  findParents,
  lockParentBatches,
  markDependencies,
  markParentJobs,
  type ParentRow,
  takeUnmarkedDependencies,
} from '../jobs/dependencies.sql.js';
import { insertEnds } from '../jobs/outbox.sql.js';

const maxDependencies = 2_000;

const beginning = '00000000-0000-0000-0000-000000000000';

export interface MarkingReport {
  readonly marked: number;
  /** Number of dependencies to try again later, because their parents were locked. */
  readonly busy: number;
}

/**
 * Ensures that the end of every parent is recorded in the outbox. Marks unfinished parents as having dependents, and
 * records the ends of finished parents. Never waits for a lock.
 */
export class DependencyMarker {
  readonly #database: Database;
  readonly #setAside: PostgresSetAside;
  /**
   * Id of the dependent after which the next run starts. If every run started at the beginning, dependencies on parents
   * that stay locked would starve the others.
   */
  #from = beginning;

  constructor(database: Database, setAside: PostgresSetAside) {
    this.#database = database;
    this.#setAside = setAside;
  }

  /**
   * Marks the parents of the next unmarked dependencies, all together. If their data causes an error, starts over in a
   * mode that sets faulty parents aside.
   */
  async mark(): Promise<MarkingReport> {
    const from = this.#from;
    try {
      return await this.#database.transaction((client) => this.#mark(client, allOrNothing));
    } catch (error) {
      if (!isOfData(error)) throw error;
      this.#from = from;
      return this.#database.transaction((client) => this.#mark(client, bisecting(client)));
    }
  }

  async #mark(client: Connection, isolate: Isolate): Promise<MarkingReport> {
    const { rows: dependencies } = await client.query<DependencyRow>(takeUnmarkedDependencies, [
      this.#from,
      maxDependencies,
    ]);
    this.#from =
      dependencies.length < maxDependencies ? beginning : (dependencies.at(-1)?.child_id ?? beginning);
    if (dependencies.length === 0) return { marked: 0, busy: 0 };
    const ids = [...new Set(dependencies.map((dependency) => dependency.parent_id))];
    const { rows: parents } = await client.query<ParentRow>(findParents, [arrayOf(ids)]);
    const ended = parents.filter(({ place, state }) => place === null || state !== null);
    const marked = await this.#markParents(
      client,
      parents.filter(({ place, state }) => place !== null && state === null),
      isolate,
    );
    if (ended.length > 0) {
      const states = ended.map(({ state }) => state ?? 'cancelled');
      const gone = ended.map(({ place }) => place === null);
      await client.query(insertEnds, [arrayOf(ended.map(({ id }) => id)), states, gone]);
    }
    const settledIds = new Set([...marked, ...ended.map(({ id }) => id)]);
    const done = dependencies.filter((dependency) => settledIds.has(dependency.parent_id));
    await client.query(markDependencies, [
      arrayOf(done.map((dependency) => dependency.parent_id)),
      arrayOf(done.map((dependency) => dependency.child_id)),
    ]);
    return { marked: done.length, busy: dependencies.length - done.length };
  }

  /** Marks parents, grouped by table and queue. Returns the ids of the parents that are now marked. */
  async #markParents(client: Connection, parents: readonly ParentRow[], isolate: Isolate): Promise<string[]> {
    const marked: string[] = [];
    for (const [place, group] of Object.entries(groupBy(parents, ({ place: at }) => at ?? ''))) {
      for (const [queueId, members] of Object.entries(groupBy(group, (parent) => `${parent.queue_id}`))) {
        const some = await isolate(
          members,
          (parts) => markGroup(client, place, Number(queueId), parts),
          ({ id: jobId, queue_id: of }, error) =>
            this.#setAside.put(
              client,
              { role: 'resolver', key: `parent ${jobId}`, queueId: of, jobId },
              error,
            ),
        );
        for (const id of some.flat()) marked.push(id);
      }
    }
    return marked;
  }
}

/**
 * Marks parents in one table and queue; batches are locked instead. Returns the ids of the marked or locked parents.
 */
async function markGroup(
  client: Connection,
  place: string,
  queueId: number,
  parents: readonly ParentRow[],
): Promise<string[]> {
  const ids = arrayOf(parents.map(({ id }) => id));
  const { rows } =
    place === 'batch'
      ? await client.query<{ id: string }>(lockParentBatches, [ids])
      : await client.query<{ id: string }>(markParentJobs[place as keyof typeof markParentJobs], [
          queueId,
          ids,
        ]);
  return rows.map(({ id }) => id);
}

function groupBy<Item>(items: readonly Item[], key: (item: Item) => string): Record<string, Item[]> {
  const groups: Record<string, Item[]> = {};
  for (const item of items) (groups[key(item)] ??= []).push(item);
  return groups;
}
