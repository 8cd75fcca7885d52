import { brokenCondition, isFinished, isMet, type ParentEnd } from '@longshore/jobs';
import type pg from 'pg';
import { arrayOf } from '../connection/array-literal.js';
import type { QueueIdCache } from '../connection/queue-id-cache.js';
import type { DependencyResolver, ResolveOptions } from './outbox-relay.js';
import { cancelAwaiting, lockAwaiting, releaseAwaiting, type ReleasedRow } from './awaiting-jobs.sql.js';
import { type DependencyRow, openDependencies, resolveDependencies } from './dependencies.sql.js';
import { noteEnds, type OutboxRow } from './outbox.sql.js';

/** More links than this are settled by several transactions: none is to be long. */
const maxDependencies = 5_000;

/**
 * Releases or cancels jobs when those they wait for have ended. Whoever settles links locks the jobs that wait first, in one
 * order, and the links afterwards.
 */
export class PostgresContinuations implements DependencyResolver {
  readonly #queues: QueueIdCache;

  constructor(queues: QueueIdCache) {
    this.#queues = queues;
  }

  async resolve(
    client: pg.ClientBase,
    moves: readonly OutboxRow[],
    { isolate, setAside }: ResolveOptions,
  ): Promise<Set<string | null>> {
    const ends = endsOf(moves);
    const notified = new Set<string | null>();
    if (ends.size === 0) return notified;
    const parents = [...ends.keys()];
    const { rows } = await client.query<DependencyRow>({
      ...openDependencies,
      values: [arrayOf(parents), maxDependencies],
    });
    if (rows.length === maxDependencies) await putBack(client, moves);
    for (const [queueId, links] of byChildQueue(rows)) {
      const released = await isolate(
        byChild(links),
        (children) => settle(client, queueId, children.flat(), ends),
        (ofChild, error) => {
          const jobId = ofChild[0]?.child_id ?? '';
          return setAside({ key: `job ${jobId}`, queueId, jobId, item: endsFor(ofChild, moves) }, error);
        },
      );
      for (const { ready, blocked, waiting } of released) {
        if (ready > 0) notified.add(await this.#queues.nameOf(queueId));
        if (waiting > 0 || blocked) notified.add(null);
      }
    }
    return notified;
  }
}

async function settle(
  client: pg.ClientBase,
  queueId: number,
  links: readonly DependencyRow[],
  ends: ReadonlyMap<string, ParentEnd>,
): Promise<ReleasedRow> {
  const errors = new Map<string, string>();
  const met: DependencyRow[] = [];
  for (const link of links) {
    const end = ends.get(link.parent_id);
    if (end === undefined) continue;
    if (isMet(link.condition, end)) met.push(link);
    else errors.set(link.child_id, JSON.stringify(brokenCondition(link.parent_id, link.condition, end)));
  }
  const children = [...new Set(links.map((link) => link.child_id))];
  await client.query({ ...lockAwaiting, values: [queueId, arrayOf(children)] });
  await client.query({
    ...resolveDependencies,
    values: [arrayOf(met.map((link) => link.parent_id)), arrayOf(met.map((link) => link.child_id))],
  });
  if (errors.size > 0) {
    await client.query({
      ...cancelAwaiting,
      values: [queueId, arrayOf([...errors.keys()]), [...errors.values()]],
    });
  }
  const candidates = children.filter((child) => !errors.has(child));
  if (candidates.length === 0) return { ready: 0, blocked: false, waiting: 0 };
  const { rows } = await client.query<ReleasedRow>({
    ...releaseAwaiting,
    values: [queueId, arrayOf(candidates)],
  });
  return rows[0] ?? { ready: 0, blocked: false, waiting: 0 };
}

/** What could not be settled at once, without anything that other resolvers would draw from it again. */
async function putBack(client: pg.ClientBase, moves: readonly OutboxRow[]): Promise<void> {
  const rest = moves.filter(({ meta, to_state: state }) => meta.followed === true && isFinished(state));
  await client.query({
    ...noteEnds,
    values: [
      arrayOf(rest.map((move) => move.job_id)),
      rest.map((move) => move.to_state),
      rest.map((move) => move.meta.gone === true),
    ],
  });
}

function endsOf(moves: readonly OutboxRow[]): Map<string, ParentEnd> {
  const ends = new Map<string, ParentEnd>();
  for (const { job_id: id, to_state: state, meta } of moves) {
    if (meta.followed !== true || !isFinished(state)) continue;
    ends.set(id, meta.gone === true ? 'gone' : state);
  }
  return ends;
}

/** The links of each job that waits, in the order of locking. */
function byChild(links: readonly DependencyRow[]): DependencyRow[][] {
  const groups = new Map<string, DependencyRow[]>();
  for (const link of links) {
    const group = groups.get(link.child_id);
    if (group === undefined) groups.set(link.child_id, [link]);
    else group.push(link);
  }
  return [...groups].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, group]) => group);
}

/** The ends of the parents of these links, without anything that other resolvers would draw from them again. */
function endsFor(links: readonly DependencyRow[], moves: readonly OutboxRow[]): OutboxRow[] {
  const parents = new Set(links.map((link) => link.parent_id));
  return moves
    .filter(({ job_id: id, meta }) => parents.has(id) && meta.followed === true)
    .map(({ job_id, from_state, to_state, meta: { gone } }) => {
      const meta: OutboxRow['meta'] = { followed: true, ...(gone === true && { gone }) };
      return { queue_id: 0, job_id, from_state, to_state, meta };
    });
}

/** In the order of the queues' numbers, which is the order of locking. */
function byChildQueue(links: readonly DependencyRow[]): [queueId: number, links: DependencyRow[]][] {
  const groups = new Map<number, DependencyRow[]>();
  for (const link of links) {
    const group = groups.get(link.queue_id);
    if (group === undefined) groups.set(link.queue_id, [link]);
    else group.push(link);
  }
  return [...groups].toSorted(([left], [right]) => left - right);
}
