import type pg from 'pg';
import { arrayOf } from '../connection/array-literal.js';
import { type Database, isOfData } from '../connection/database.js';
import { apart, type Isolate, together } from '../connection/isolation.js';
import type { PostgresSetAside } from '../maintain/set-aside.js';
import {
  type DependencyRow,
  findParents,
  lockParentBatches,
  markDependencies,
  markParentJobs,
  type ParentRow,
  takeUnmarkedDependencies,
} from './dependencies.sql.js';
import { noteEnds } from './outbox.sql.js';

const maxDependencies = 2_000;

const beginning = '00000000-0000-0000-0000-000000000000';

export interface MarkingReport {
  readonly marked: number;
  /** Links whose parents were being claimed, finished or moved at that moment: to be looked at again. */
  readonly busy: number;
}

/**
 * Sees to it that the ends of parents will be noted: tells parents that live that others wait for them, and notes the ends of
 * those that have ended. It waits for no lock and nobody waits for it for long.
 */
export class DependencyMarker {
  readonly #database: Database;
  readonly #setAside: PostgresSetAside;
  /** Where the next look begins, so that links whose parents are held for long do not keep others from their turn. */
  #from = beginning;

  constructor(database: Database, setAside: PostgresSetAside) {
    this.#database = database;
    this.#setAside = setAside;
  }

  /** All in one go; only if that fails for a reason of its data, one parent is separated from the other. */
  async mark(): Promise<MarkingReport> {
    const from = this.#from;
    try {
      return await this.#database.transaction((client) => this.#mark(client, together));
    } catch (error) {
      if (!isOfData(error)) throw error;
      this.#from = from;
      return this.#database.transaction((client) => this.#mark(client, apart(client)));
    }
  }

  async #mark(client: pg.ClientBase, isolate: Isolate): Promise<MarkingReport> {
    const { rows: links } = await client.query<DependencyRow>({
      ...takeUnmarkedDependencies,
      values: [this.#from, maxDependencies],
    });
    this.#from = links.length < maxDependencies ? beginning : (links.at(-1)?.child_id ?? beginning);
    if (links.length === 0) return { marked: 0, busy: 0 };
    const ids = [...new Set(links.map((link) => link.parent_id))];
    const { rows: parents } = await client.query<ParentRow>({ ...findParents, values: [arrayOf(ids)] });
    const ended = parents.filter(({ place, state }) => place === null || state !== null);
    const told = await this.#tell(
      client,
      parents.filter(({ place, state }) => place !== null && state === null),
      isolate,
    );
    if (ended.length > 0) {
      const states = ended.map(({ state }) => state ?? 'cancelled');
      const gone = ended.map(({ place }) => place === null);
      await client.query({ ...noteEnds, values: [arrayOf(ended.map(({ id }) => id)), states, gone] });
    }
    const known = new Set([...told, ...ended.map(({ id }) => id)]);
    const done = links.filter((link) => known.has(link.parent_id));
    await client.query({
      ...markDependencies,
      values: [arrayOf(done.map((link) => link.parent_id)), arrayOf(done.map((link) => link.child_id))],
    });
    return { marked: done.length, busy: links.length - done.length };
  }

  /** Returns those that know now that others wait for them. */
  async #tell(client: pg.ClientBase, parents: readonly ParentRow[], isolate: Isolate): Promise<string[]> {
    const told: string[] = [];
    for (const [place, group] of Object.entries(groupBy(parents, ({ place: at }) => at ?? ''))) {
      for (const [queueId, members] of Object.entries(groupBy(group, (parent) => `${parent.queue_id}`))) {
        const some = await isolate(
          members,
          (parts) => follow(client, place, Number(queueId), parts),
          ({ id: jobId, queue_id: of }, error) =>
            this.#setAside.put(
              client,
              { role: 'resolver', key: `parent ${jobId}`, queueId: of, jobId },
              error,
            ),
        );
        for (const id of some.flat()) told.push(id);
      }
    }
    return told;
  }
}

/** Returns those of one table and queue that know now that others wait for them. */
async function follow(
  client: pg.ClientBase,
  place: string,
  queueId: number,
  parents: readonly ParentRow[],
): Promise<string[]> {
  const ids = arrayOf(parents.map(({ id }) => id));
  const { rows } = await client.query<{ id: string }>(
    place === 'batch'
      ? { ...lockParentBatches, values: [ids] }
      : { ...markParentJobs[place as keyof typeof markParentJobs], values: [queueId, ids] },
  );
  return rows.map(({ id }) => id);
}

function groupBy<Item>(items: readonly Item[], key: (item: Item) => string): Record<string, Item[]> {
  const groups: Record<string, Item[]> = {};
  for (const item of items) (groups[key(item)] ??= []).push(item);
  return groups;
}
