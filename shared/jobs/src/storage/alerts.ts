import { bounds } from '../job/bounds.js';
import { storable } from '../job/storable.js';

/** A current warning, as found by the dashboard. */
export interface ObservedWarning {
  /** Identifies the warning; stays the same while the warning lasts. */
  readonly key: string;
  readonly text: string;
  /** What to do about it. */
  readonly advice: string;
  /** A path inside the dashboard. */
  readonly link: string;
}

/** A warning that has been announced, either in a separate message or in one about several warnings. */
export interface Alert extends ObservedWarning {
  readonly since: Date;
  /** When the warning was last observed. */
  readonly seenAt: Date;
  /** Whether the warning was announced in a separate message; if so, its end is announced, too. */
  readonly announced: boolean;
}

/** The content of a message: one warning that began or ended, or the number of further warnings that began at once. */
export type AlertContent =
  | {
      readonly type: 'warning.began' | 'warning.ended';
      readonly warning: ObservedWarning;
      readonly since: string;
      /** When the warning was found to have ended; `null` for `warning.began`. */
      readonly endedAt: string | null;
    }
  | { readonly type: 'warnings.began'; readonly count: number; readonly since: string };

/** A message to one webhook. */
export interface AlertMessage {
  /** Identifies the message; the same for every webhook and every attempt to deliver it. */
  readonly id: string;
  /** Identifies the webhook. */
  readonly target: string;
  readonly content: AlertContent;
  /** Number of failed attempts to deliver the message. */
  readonly attempts: number;
  readonly createdAt: Date;
  /** When delivery is attempted next; `null` if the message has been given up. */
  readonly nextAt: Date | null;
  /** The latest delivery error; `null` if no attempt has failed. */
  readonly error: string | null;
}

/**
 * Remembers which warnings have been announced, and keeps messages until they are delivered. All processes share these
 * records, so only one of them sends each message.
 */
export interface Alerts {
  /**
   * Reserves the next check of the warnings for the caller. Returns `false` if a process has already reserved one in
   * the last `everyMs` milliseconds.
   */
  reserveCheck(everyMs: number): Promise<boolean>;
  /**
   * Compares the current warnings with the active alerts and updates the alerts. Stores messages to each target: about
   * the warnings that began, and about those that have ended because they were not observed for
   * {@link alertEndsAfterMs}.
   *
   * @param warnings the current warnings, most urgent first
   */
  observe(warnings: readonly ObservedWarning[], targets: readonly string[]): Promise<void>;
  /** Lists the active alerts, oldest first. */
  list(): Promise<Alert[]>;
  /**
   * Leases up to `limit` due messages to these targets, so that no other process sends them for `leaseMs` milliseconds.
   * Messages with the fewest failed attempts come first.
   */
  take(targets: readonly string[], limit: number, leaseMs: number): Promise<AlertMessage[]>;
  /** Removes a delivered message. */
  delivered(message: Pick<AlertMessage, 'id' | 'target'>): Promise<void>;
  /** Records a failed attempt. Delivery is retried at growing intervals, and given up after a day. */
  failed(message: Pick<AlertMessage, 'id' | 'target'>, error: string): Promise<void>;
  /** Lists messages that have failed at least once and were not delivered, newest first. */
  listFailures(limit: number): Promise<AlertMessage[]>;
}

/**
 * How long a warning must go unobserved before it counts as ended, in milliseconds. A warning that comes and goes more
 * quickly is announced only once.
 */
export const alertEndsAfterMs = 120_000;

/**
 * Maximum number of warnings that begin at the same time and get a message each. One further message counts the rest.
 */
export const maxAnnounced = 20;

/** How long undelivered messages are kept, in milliseconds from their creation. */
export const failuresKeptMs = 7 * 86_400_000;

const giveUpAfterMs = 86_400_000;
const firstRetryMs = 5_000;
const longestRetryMs = 1_800_000;

/**
 * Returns the delay until the next attempt, in milliseconds; `null` to give up.
 *
 * @param attempts number of failed attempts, 1 or more
 * @param ageMs age of the message
 */
export function alertRetryMs(attempts: number, ageMs: number): number | null {
  if (ageMs >= giveUpAfterMs) return null;
  return Math.min(firstRetryMs * 4 ** (attempts - 1), longestRetryMs);
}

/** Maximum length of the stored texts of warnings and errors, in characters. */
const maxText = 2_000;

/**
 * Converts the texts of a warning so that every storage implementation can store them; cuts those that are too long.
 */
export function storableWarning({ key, text, advice, link }: ObservedWarning): ObservedWarning {
  return {
    key: storable(key, maxKey),
    text: storable(text, maxText),
    advice: storable(advice, maxText),
    link: storable(link, maxText),
  };
}

const maxKey = 5 * bounds.keyLength.max;

/** Converts the error of a webhook so that every storage implementation can store it; cuts it if it is too long. */
export function storableFailure(error: string): string {
  return storable(error, maxText);
}

/** The changes that result from an observation of warnings. */
export interface AlertChanges {
  /** New alerts. */
  readonly begun: Alert[];
  /** Alerts whose warnings were observed again, with their current texts. */
  readonly seen: Alert[];
  readonly ended: Alert[];
  readonly messages: AlertContent[];
}

/** Compares the active alerts with the current warnings. */
export function diffAlerts(
  alerts: readonly Alert[],
  warnings: readonly ObservedWarning[],
  now: Date,
): AlertChanges {
  const known = new Map(alerts.map((alert) => [alert.key, alert]));
  const observed = new Map(warnings.map((warning) => [warning.key, warning]));
  const fresh = [...observed.values()].filter(({ key }) => !known.has(key));
  const begun = fresh.map((warning, index) => ({
    ...warning,
    since: now,
    seenAt: now,
    announced: index < maxAnnounced,
  }));
  const seen = alerts.flatMap((alert) => {
    const warning = observed.get(alert.key);
    return warning === undefined ? [] : [{ ...alert, ...warning, seenAt: now }];
  });
  const ended = alerts.filter(
    ({ key, seenAt }) => !observed.has(key) && now.getTime() - seenAt.getTime() >= alertEndsAfterMs,
  );
  const others = begun.length - Math.min(begun.length, maxAnnounced);
  return {
    begun,
    seen,
    ended,
    messages: [
      ...begun.filter(({ announced }) => announced).map((alert) => contentOf('warning.began', alert, null)),
      ...(others === 0 ? [] : [{ type: 'warnings.began', count: others, since: now.toISOString() } as const]),
      ...ended
        .filter(({ announced }) => announced)
        .map((alert) => contentOf('warning.ended', alert, now.toISOString())),
    ],
  };
}

function contentOf(
  type: 'warning.began' | 'warning.ended',
  { key, text, advice, link, since }: Alert,
  endedAt: string | null,
): AlertContent {
  return { type, warning: { key, text, advice, link }, since: since.toISOString(), endedAt };
}
