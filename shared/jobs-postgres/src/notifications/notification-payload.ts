import { createHash } from 'node:crypto';
import type { Notification } from '@longshore/jobs/storage';

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
