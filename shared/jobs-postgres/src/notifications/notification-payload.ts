import { createHash } from 'node:crypto';
import type { Notification } from '@longshore/jobs/storage';
import { prepared } from '../connection/statement.js';

/**
 * A test of the connection, the commit of a caller's transaction, which `longshore.notify_on_commit` sends, and jobs that
 * are offered to one server.
 */
export type Subject = Notification | Pulse | Commit | Offer;

interface Pulse {
  readonly kind: 'pulse';
}

/** A caller's transaction that has done something of a kind, in whatever queue and for whatever time. */
interface Commit {
  readonly kind: 'commit';
  readonly did: Notification['kind'];
}

/** Ready jobs that one server, whose id is given, is to claim at once. */
export interface Offer {
  readonly kind: 'offer';
  readonly queue: string;
  readonly jobs: number;
  readonly serverId: string;
}

const pulse = '.';

const timed = /^(due|recurring|pause):(\d{1,9})$/;
const untimed = /^(outbox|bulk|cancel)$/;
const committed = /^\* (ready|due|recurring|pause|outbox|bulk|cancel)$/;
const readyQueue = /^ready:([0-9a-f]{16})$/;
const offered = /^offer:([0-9a-f]{16}):(\d{1,3}):([0-9a-f-]{36})$/;

/**
 * Returns the digest that stands for a queue in notifications, because every role that may connect can listen to them,
 * and names of queues are not for everyone.
 */
export function queueDigest(queue: string): string {
  return createHash('sha256').update(queue).digest('hex').slice(0, 16);
}

/** Writes a notification for other processes. Offers and commits are written in SQL. */
export function payloadOf(subject: Notification | Pulse): string {
  if (subject.kind === 'pulse') return pulse;
  if (subject.kind === 'ready') return `ready:${queueDigest(subject.queue)}`;
  return 'inMs' in subject ? `${subject.kind}:${Math.ceil(subject.inMs)}` : subject.kind;
}

/**
 * Reads a notification from another process. Anyone who may connect can send one, so returns `undefined` for everything
 * that is not written by {@link payloadOf}, and for queues that nobody in this process listens to.
 *
 * @param queues the names of this process' queues, by digest
 */
export function readPayload(payload: string, queues: ReadonlyMap<string, string>): Subject | undefined {
  if (payload === pulse) return { kind: 'pulse' };
  const [, did] = committed.exec(payload) ?? [];
  if (did !== undefined) return { kind: 'commit', did: did as 'ready' };
  const queue = queues.get(readyQueue.exec(payload)?.[1] ?? '');
  if (queue !== undefined) return { kind: 'ready', queue };
  const [, digest = '', jobs, serverId = ''] = offered.exec(payload) ?? [];
  const offeredIn = queues.get(digest);
  if (offeredIn !== undefined) return { kind: 'offer', queue: offeredIn, jobs: Number(jobs), serverId };
  const [, kind, inMs] = timed.exec(payload) ?? [];
  if (kind !== undefined) return { kind: kind as 'due', inMs: Number(inMs) };
  return untimed.test(payload) ? { kind: payload as 'outbox' } : undefined;
}

/** How old a server's heartbeat may be for it to be offered jobs, as a share of the time after which it is dead. */
const freshness = 0.5;

/**
 * Ready jobs that one server is to claim at once, as an element of the parameter $3 of {@link sendNotifications}.
 */
export interface OfferedJobs {
  /** The name of the queue. Not part of the notification, unlike its digest. */
  readonly queue: string;
  readonly digest: string;
  readonly jobs: number;
  readonly names: readonly string[];
}

/** A notification that was sent. */
export interface SentRow {
  /** The digest of the queue if jobs were offered to a server; `null` if all servers were notified. */
  readonly offered: string | null;
}

/**
 * $1 sender, $2 payloads, $3 JSON array of {@link OfferedJobs}. Notifies on the channel named after the schema.
 *
 * Offers jobs to a random one of the servers that can run them and have free slots, as far as their last heartbeats show.
 * If there is none, notifies all servers.
 */
export const sendNotifications = prepared(
  'longshore-notify',
  `
    select pg_notify('longshore', $1::text || ' ' || payload)::text, offered
    from (
      select unnest($2::text[]) as payload, null as offered
      union all
      select coalesce(chosen.payload, 'ready:' || offer.digest), case when chosen.payload is not null then offer.digest end
      from jsonb_to_recordset($3::jsonb) as offer (queue text, digest text, jobs integer, names text[])
      left join lateral (
        select format('offer:%s:%s:%s', offer.digest, offer.jobs, server.id) as payload from longshore.server
        where state = 'running' and heartbeat_at > now() - timeout_ms * interval '${freshness} milliseconds'
          and offer.queue = any (queues) and (job_names is null or job_names @> offer.names)
          and processing + offer.jobs <= concurrency
        order by random() limit 1
      ) as chosen on true
    ) as sent`,
);

/** $1 queue, $2 ids. Returns a row if any of these jobs is ready. */
export const findUnclaimed = prepared(
  'longshore-find-unclaimed',
  `select 1 from longshore.job where queue_id = $1 and id = any($2::uuid[]) and server_id is null limit 1`,
);
