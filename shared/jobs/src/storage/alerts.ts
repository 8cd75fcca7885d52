import { storable } from '../job/storable.js';
import type { AlertContent } from './incidents.js';

/** A message to be delivered to one webhook. */
export interface AlertMessage {
  /** Id of the message, the same for all webhooks and all delivery attempts. */
  readonly id: string;
  /** The name of the webhook, as in {@link Alerts.register}. */
  readonly target: string;
  readonly content: AlertContent;
  /** Number of failed delivery attempts. */
  readonly attempts: number;
  readonly createdAt: Date;
  /** Earliest time of the next delivery attempt; `null` if there will be none. */
  readonly nextAt: Date | null;
  /** The latest delivery error; `null` if no attempt has failed. */
  readonly error: string | null;
}

/**
 * Keeps messages about incidents until they are delivered or expire. All processes share them. Each message is sent by
 * only one process at a time.
 */
export interface Alerts {
  /**
   * Registers the webhooks to which this process sends messages. Incidents that begin or end within the next
   * {@link targetsKeptMs} store a message for each of them, whichever process observes it.
   */
  register(targets: readonly string[]): Promise<void>;
  /**
   * Leases up to `limit` due messages for these targets and returns them. No other process receives these messages for
   * `leaseMs` milliseconds. Messages with the fewest failed attempts come first.
   */
  take(targets: readonly string[], limit: number, leaseMs: number): Promise<AlertMessage[]>;
  /** Removes a delivered message. */
  delivered(message: Pick<AlertMessage, 'id' | 'target'>): Promise<void>;
  /** Records a failed delivery. The next attempts follow at growing intervals, until the message is a day old. */
  failed(message: Pick<AlertMessage, 'id' | 'target'>, error: string): Promise<void>;
  /** Lists undelivered messages with at least one failed attempt, newest first. */
  listFailures(limit: number): Promise<AlertMessage[]>;
}

/** How long a target stays registered, in milliseconds. */
export const targetsKeptMs = 600_000;

/** How long undelivered messages are kept after their creation, in milliseconds. */
export const failuresKeptMs = 7 * 86_400_000;

const giveUpAfterMs = 86_400_000;
const firstRetryMs = 5_000;
const longestRetryMs = 1_800_000;

/**
 * Returns the delay before the next delivery attempt, in milliseconds. Returns `null` once the message is a day old:
 * delivery is then abandoned.
 *
 * @param attempts number of failed attempts, 1 or more
 * @param ageMs age of the message in milliseconds
 */
export function alertRetryMs(attempts: number, ageMs: number): number | null {
  if (ageMs >= giveUpAfterMs) return null;
  return Math.min(firstRetryMs * 4 ** (attempts - 1), longestRetryMs);
}

/** Maximum length of a stored error, in characters. */
const maxError = 2_000;

/**
 * Returns a delivery error as text that Postgres can store. Replaces characters that Postgres rejects, and truncates
 * long errors.
 */
export function storableFailure(error: string): string {
  return storable(error, maxError);
}
