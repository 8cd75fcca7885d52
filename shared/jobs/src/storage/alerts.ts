import { bounds } from '../job/bounds.js';
import { storable } from '../job/storable.js';

/** A current warning, as found by the dashboard. */
export interface ObservedWarning {
  /** Identifies the warning for as long as it holds. */
  readonly key: string;
  readonly text: string;
  /** What to do about it. */
  readonly advice: string;
  /** A path inside the dashboard. */
  readonly link: string;
}

/** A warning that has been announced, in a message of its own or together with others. */
export interface Alert extends ObservedWarning {
  readonly since: Date;
  /** When the warning was last found to hold. */
  readonly seenAt: Date;
  /** Whether the start of this warning was announced in a separate message, not in one about several warnings. */
  readonly announced: boolean;
}

/** The content of a message: a warning that began or ended, or a number of others that began together. */
export type AlertContent =
  | {
      readonly type: 'warning.began' | 'warning.ended';
      readonly warning: ObservedWarning;
      readonly since: string;
      /** When it was found to have ended. */
      readonly endedAt: string | null;
    }
  | { readonly type: 'warnings.began'; readonly count: number; readonly since: string };

/** A message to one webhook. */
export interface AlertMessage {
  /** The same for all attempts and all webhooks. */
  readonly id: string;
  /** Identifies the webhook. */
  readonly target: string;
  readonly content: AlertContent;
  /** Number of failed attempts. */
  readonly attempts: number;
  readonly createdAt: Date;
  /** When it is tried again; `null` if it has been given up. */
  readonly nextAt: Date | null;
  /** The latest error; `null` if it has not been tried. */
  readonly error: string | null;
}

/**
 * Remembers which warnings have been announced, and keeps messages until they are delivered. Several processes share this, so
 * that each message is sent by one of them.
 */
export interface Alerts {
  /**
   * Returns whether this process may check the warnings now, because no other process has taken a turn in the last
   * `everyMs` milliseconds.
   */
  takeTurn(everyMs: number): Promise<boolean>;
  /**
   * Compares the warnings that hold now with those that have been announced, and stores a message to each target about those
   * that began, and those that have not been seen for {@link alertEndsAfterMs}.
   *
   * @param warnings most urgent first
   */
  observe(warnings: readonly ObservedWarning[], targets: readonly string[]): Promise<void>;
  /** Lists the active alerts, oldest first. */
  list(): Promise<Alert[]>;
  /**
   * Takes up to `limit` messages to these targets that are due, so that no other process sends them for `leaseMs`. Prefers those
   * with the fewest failed attempts.
   */
  take(targets: readonly string[], limit: number, leaseMs: number): Promise<AlertMessage[]>;
  /** Removes a delivered message. */
  delivered(message: Pick<AlertMessage, 'id' | 'target'>): Promise<void>;
  /** Records a failed attempt. The message is tried again after growing intervals, and given up after a day. */
  failed(message: Pick<AlertMessage, 'id' | 'target'>, error: string): Promise<void>;
  /** Lists messages that have failed at least once and were not delivered, newest first. */
  listFailures(limit: number): Promise<AlertMessage[]>;
}

/** A warning that is not seen for this long, in milliseconds, has ended. One that comes and goes is announced once. */
export const alertEndsAfterMs = 120_000;

/** How many of the warnings that begin at the same time are announced one by one; a single message announces the others. */
export const mostAnnounced = 20;

/** How long messages that were given up are listed, in milliseconds. */
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

/** Returns a warning whose texts every storage can store. */
export function storableWarning({ key, text, advice, link }: ObservedWarning): ObservedWarning {
  return {
    key: storable(key, maxKey),
    text: storable(text, maxText),
    advice: storable(advice, maxText),
    link: storable(link, maxText),
  };
}

const maxKey = 5 * bounds.keyLength.max;

/** Returns an error of a webhook as every storage can store it, cut if it is too long. */
export function storableFailure(error: string): string {
  return storable(error, maxText);
}

/** What changes when warnings are observed. */
export interface AlertChanges {
  /** New alerts. */
  readonly begun: Alert[];
  /** Alerts that still hold, with their current texts. */
  readonly seen: Alert[];
  readonly ended: Alert[];
  readonly messages: AlertContent[];
}

/** Compares the alerts with the warnings that hold now. */
export function changesOf(
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
    announced: index < mostAnnounced,
  }));
  const seen = alerts.flatMap((alert) => {
    const warning = observed.get(alert.key);
    return warning === undefined ? [] : [{ ...alert, ...warning, seenAt: now }];
  });
  const ended = alerts.filter(
    ({ key, seenAt }) => !observed.has(key) && now.getTime() - seenAt.getTime() >= alertEndsAfterMs,
  );
  const others = begun.length - Math.min(begun.length, mostAnnounced);
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
