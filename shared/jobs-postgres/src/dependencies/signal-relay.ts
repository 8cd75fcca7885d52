import { isFinished, type JobEnd, endSignal, type Notification } from '@longshore/jobs/storage';
import { arrayOf } from '../connection/array-literal.js';
import type { Connection } from '../connection/connection.js';
import { holdRunning, wakeSuspended } from '../jobs/awaited-signals.sql.js';
import type { OutboxRow } from '../jobs/outbox.sql.js';
import type { DependencyResolver, ResolveOptions } from './outbox-relay.js';
import {
  findEnds,
  findLive,
  findMoved,
  type LiveRow,
  moveSignals,
  noteSignals,
  requestCancellations,
  storeSignals,
} from '../jobs/signals.sql.js';

/**
 * Tells suspended jobs what they wait for: wakes those that have received a signal, and signals those that wait for the end of
 * another job. Cancels the jobs that a cancelled job waited for, if it asked for that.
 *
 * A signal may arrive while its job is being suspended. The relay looks at the job after the signal was committed. If the job is
 * still running and is suspended afterwards, that transaction sees the signal. If the job is locked, because it may be being
 * suspended, the relay looks again. So it does after it has itself stored a signal for a job that was not suspended yet: until the
 * commit, no suspension can see that signal.
 */
export class SignalRelay implements DependencyResolver {
  async resolve(
    client: Connection,
    entries: readonly OutboxRow[],
    { isolate, setAside }: ResolveOptions,
  ): Promise<Iterable<Notification>> {
    const notifications = new Set<Notification>();
    const ended = entries.filter(
      ({ meta, to_state: state }) => isFinished(state) && meta.resumes !== undefined,
    );
    const told = await isolate(
      ended,
      (some) => signalEnds(client, some),
      (entry, error) => setAside(asideOf(entry), error),
    );
    const signalled = entries.filter(({ meta }) => meta.signalled === true);
    const arrived = signalled.map(({ queue_id: queueId, job_id: id }) => ({ queueId, id }));
    const here = await followMoved(client, arrived);
    const sent = new Set(told.flat().map(({ id }) => id));
    let isAnyDue = false;
    for (const [queueId, ids] of byQueue([...here, ...told.flat()])) {
      const unclear = new Set([
        ...(await movingAmong(client, queueId, ids)),
        ...ids.filter((id) => sent.has(id)),
      ]);
      const woken = await wake(client, queueId, ids); // second, so that it finds those that have been suspended since
      isAnyDue ||= woken.size > 0;
      const again = [...unclear].filter((id) => !woken.has(id));
      if (again.length > 0) await client.query(noteSignals, [queueId, arrayOf(again)]);
    }
    if (isAnyDue) notifications.add({ kind: 'due', inMs: 0 });
    const cancelled = entries.filter(
      ({ meta, to_state: state }) => state === 'cancelled' && meta.cancels !== undefined,
    );
    await isolate(
      cancelled,
      (some) => cancelChildren(client, some),
      (entry, error) => setAside(asideOf(entry), error),
    );
    if (cancelled.length > 0) notifications.add({ kind: 'cancel' });
    return notifications;
  }
}

interface Place {
  readonly queueId: number;
  readonly id: string;
}

/** Moves the signals of jobs that are now in another queue than the one that they were sent to. Returns the other jobs. */
async function followMoved(client: Connection, places: readonly Place[]): Promise<readonly Place[]> {
  if (places.length === 0) return places;
  const { rows } = await client.query<LiveRow>(findMoved, [
    arrayOf([...new Set(places.map(({ id }) => id))]),
  ]);
  if (rows.length === 0) return places;
  const now = new Map(rows.map(({ id, queue_id: queueId }) => [id, queueId]));
  const isMoved = ({ queueId, id }: Place): boolean => (now.get(id) ?? queueId) !== queueId;
  for (const [queueId, ids] of byQueue(places.filter(isMoved)))
    for (const id of ids) await client.query(moveSignals, [queueId, arrayOf([id]), now.get(id)]);
  return places.filter((place) => !isMoved(place));
}

/** Makes those of these jobs due that are suspended and have what they wait for. Returns their ids. */
async function wake(
  client: Connection,
  queueId: number,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ id: string }>(wakeSuspended, [queueId, arrayOf(ids)]);
  return new Set(rows.map(({ id }) => id));
}

/** Returns those of these jobs that are running and are locked, because they may be being suspended. */
async function movingAmong(
  client: Connection,
  queueId: number,
  ids: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await client.query<{ id: string; locked: boolean }>(holdRunning, [queueId, arrayOf(ids)]);
  return rows.filter(({ locked }) => !locked).map(({ id }) => id);
}

/** Signals the jobs that wait for these, unless they have ended. Returns the jobs that have a new signal. */
async function signalEnds(client: Connection, entries: readonly OutboxRow[]): Promise<Place[]> {
  const waiting = await placesOf(
    client,
    entries.flatMap(({ meta }) => meta.resumes ?? []),
  );
  const { rows } = await client.query<{
    id: string;
    state: JobEnd['state'];
    result: JobEnd['result'];
    error: JobEnd['error'];
  }>(findEnds, [arrayOf(entries.map(({ job_id: id }) => id))]);
  const ends = new Map(rows.map(({ id, ...end }) => [id, end]));
  const sent = entries.flatMap(({ job_id: childId, meta: { resumes = '' } }) => {
    const [place, end] = [waiting.get(resumes.toLowerCase()), ends.get(childId)];
    return place === undefined || end === undefined ? [] : [{ ...place, childId, data: JSON.stringify(end) }];
  });
  for (const [queueId] of byQueue(sent)) {
    const signals = sent.filter((signal) => signal.queueId === queueId);
    await client.query(storeSignals, [
      queueId,
      arrayOf(signals.map(({ id }) => id)),
      signals.map(({ childId }) => endSignal(childId)),
      signals.map(({ childId }) => childId),
      signals.map(({ data }) => data),
    ]);
  }
  return sent;
}

async function cancelChildren(client: Connection, entries: readonly OutboxRow[]): Promise<void> {
  const children = await placesOf(
    client,
    entries.flatMap(({ meta }) => meta.cancels ?? []),
  );
  for (const [queueId, ids] of byQueue([...children.values()]))
    await client.query(requestCancellations, [queueId, arrayOf(ids)]);
}

/** Finds the unfinished ones of these jobs. */
async function placesOf(client: Connection, ids: readonly string[]): Promise<ReadonlyMap<string, Place>> {
  if (ids.length === 0) return new Map();
  const { rows } = await client.query<LiveRow>(findLive, [arrayOf([...new Set(ids)])]);
  return new Map(rows.map(({ queue_id: queueId, id }) => [id, { queueId, id }]));
}

/** Groups jobs by queue, in ascending order of both, in which they are locked. */
function byQueue(places: readonly Place[]): [queueId: number, ids: string[]][] {
  const groups = new Map<number, Set<string>>();
  for (const { queueId, id } of places) {
    const group = groups.get(queueId);
    if (group === undefined) groups.set(queueId, new Set([id]));
    else group.add(id);
  }
  return [...groups]
    .toSorted(([left], [right]) => left - right)
    .map(([queueId, ids]) => [queueId, [...ids].toSorted()]);
}

/** Describes an entry whose data cannot be processed. */
function asideOf({ queue_id: queueId, job_id: jobId, from_state, to_state, meta }: OutboxRow) {
  const { resumes, cancels } = meta;
  const rest = { ...(resumes !== undefined && { resumes }), ...(cancels !== undefined && { cancels }) };
  const item = { queue_id: queueId, job_id: jobId, from_state, to_state, meta: rest };
  return { key: `end ${jobId}`, queueId, jobId, item: [item] };
}
