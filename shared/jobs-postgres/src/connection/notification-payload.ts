import { createHash } from 'node:crypto';
import type { Notification } from '@longshore/jobs/storage';

/** A test of the connection, and the commit of a caller's transaction, which `longshore.notify_on_commit` sends. */
export type Subject = Notification | Pulse | Commit;

interface Pulse {
  readonly kind: 'pulse';
}

interface Commit {
  readonly kind: 'commit';
}

const commit = '*';
const pulse = '.';

const timed = /^(due|recurring|pause):(\d{1,9})$/;
const untimed = /^(outbox|bulk|cancel|any)$/;
const readyQueue = /^ready:([0-9a-f]{16})$/;

/**
 * Returns the digest that stands for a queue in notifications, because every role that may connect can listen to them,
 * and names of queues are not for everyone.
 */
export function queueDigest(queue: string): string {
  return createHash('sha256').update(queue).digest('hex').slice(0, 16);
}

/** Writes a notification for other processes. */
export function payloadOf(subject: Subject): string {
  if (subject.kind === 'pulse') return pulse;
  if (subject.kind === 'commit') return commit;
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
  if (payload === commit) return { kind: 'commit' };
  const queue = queues.get(readyQueue.exec(payload)?.[1] ?? '');
  if (queue !== undefined) return { kind: 'ready', queue };
  const [, kind, inMs] = timed.exec(payload) ?? [];
  if (kind !== undefined) return { kind: kind as 'due', inMs: Number(inMs) };
  return untimed.test(payload) ? { kind: payload as 'outbox' } : undefined;
}
