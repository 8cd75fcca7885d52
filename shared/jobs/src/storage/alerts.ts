import { bounds } from '../job/bounds.js';
import { storable } from '../job/storable.js';

/** A warning that currently applies, according to the dashboard. */
export interface ObservedWarning {
  /** Identifies the warning; does not change while the warning lasts. */
  readonly key: string;
  readonly text: string;
  /** What an operator should do about the warning. */
  readonly advice: string;
  /** Path of the dashboard page about the warning. */
  readonly link: string;
}

/** An active warning, with the times of its first and latest observation. */
export interface Alert extends ObservedWarning {
  readonly since: Date;
  /** When the warning was last observed. */
  readonly seenAt: Date;
  /**
   * Whether a separate message announced the warning. If `false`, a message only counted the warning, and the end of
   * the warning is not announced.
   */
  readonly announced: boolean;
}

/**
 * The content of a message. `warning.began` and `warning.ended` are about one warning. `warnings.began` counts the
 * warnings beyond {@link maxAnnounced} that began at the same time.
 */
export type AlertContent =
  | {
      readonly type: 'warning.began' | 'warning.ended';
      readonly warning: ObservedWarning;
      readonly since: string;
      /** When the end of the warning was detected; `null` for `warning.began`. */
      readonly endedAt: string | null;
    }
  | { readonly type: 'warnings.began'; readonly count: number; readonly since: string };

/** A message to be delivered to one webhook. */
export interface AlertMessage {
  /** Id of the message, the same for all webhooks and all delivery attempts. */
  readonly id: string;
  /** The name of the webhook, from the `targets` of {@link Alerts.observe}. */
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
 * Remembers which warnings have been announced, and keeps messages until they are delivered or expire. All processes
 * share these records. Each message is sent by only one process at a time.
 */
export interface Alerts {
  /**
   * Reserves a check of the warnings for the caller. Returns `false` if a check was reserved within the last `everyMs`
   * milliseconds, by any process.
   */
  reserveCheck(everyMs: number): Promise<boolean>;
  /**
   * Updates the active alerts to match the current warnings. Stores messages for each target about warnings that began
   * or ended. A warning has ended if it has not been observed for {@link alertEndsAfterMs}.
   *
   * @param warnings the current warnings, most urgent first
   * @param targets the webhooks to notify
   */
  observe(warnings: readonly ObservedWarning[], targets: readonly string[]): Promise<void>;
  /** Lists the active alerts, oldest first. */
  list(): Promise<Alert[]>;
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

/**
 * How long a warning must go unobserved before it counts as ended, in milliseconds. If the warning returns sooner, it
 * is not announced again.
 */
export const alertEndsAfterMs = 120_000;

/**
 * Maximum number of individual messages for warnings that begin at the same time. One additional message counts the
 * rest.
 */
export const maxAnnounced = 20;

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

/** Maximum length of a stored text or error, in characters. */
const maxText = 2_000;

/**
 * Returns the warning with texts that Postgres can store. Replaces characters that Postgres rejects, and truncates long
 * texts.
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

/**
 * Returns a delivery error as text that Postgres can store. Replaces characters that Postgres rejects, and truncates
 * long errors.
 */
export function storableFailure(error: string): string {
  return storable(error, maxText);
}

/** The changes to the active alerts, and the messages to send. */
export interface AlertChanges {
  /** Alerts for warnings that have just begun. */
  readonly begun: Alert[];
  /** Alerts that were observed again, with the current texts. */
  readonly seen: Alert[];
  readonly ended: Alert[];
  readonly messages: AlertContent[];
}

/**
 * Compares the active alerts with the current warnings.
 *
 * @param now the current time by the storage's clock
 */
export function diffAlerts(
  alerts: readonly Alert[],
  warnings: readonly ObservedWarning[],
  now: Date,
): AlertChanges {
  const alertsByKey = new Map(alerts.map((alert) => [alert.key, alert]));
  const observed = new Map(warnings.map((warning) => [warning.key, warning]));
  const fresh = [...observed.values()].filter(({ key }) => !alertsByKey.has(key));
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
  const unannounced = begun.length - Math.min(begun.length, maxAnnounced);
  return {
    begun,
    seen,
    ended,
    messages: [
      ...begun.filter(({ announced }) => announced).map((alert) => contentOf('warning.began', alert, null)),
      ...(unannounced === 0
        ? []
        : [{ type: 'warnings.began', count: unannounced, since: now.toISOString() } as const]),
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
