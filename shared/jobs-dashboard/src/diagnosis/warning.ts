import {
  type Incident,
  isAboutSame,
  isMuted,
  lastingSince,
  type ObservedWarning,
  storableWarning,
} from '@longshore/jobs/storage';
import { formatNumber } from '../format/count.js';
import { plainText, type Sentence } from '../format/sentence.js';
import type { Course } from './course.js';

/** The kinds of warnings, which links to runbooks name. Documented in docs/dashboard.md. */
export type WarningKind =
  | 'no-server'
  | 'queue-paused'
  | 'queue-unserved'
  | 'queue-lags'
  | 'type-paused'
  | 'type-fails'
  | 'jobs-fail'
  | 'type-new-error'
  | 'type-slow'
  | 'types-wait'
  | 'key-blocks'
  | 'no-handler'
  | 'server-died'
  | 'server-silent'
  | 'leases-stalled'
  | 'job-abandoned'
  | 'clock-wrong'
  | 'schedule-late'
  | 'schedule-missed'
  | 'schedule-paused'
  | 'schedule-fails'
  | 'deletion-pending'
  | 'set-aside'
  | 'rule-broken'
  | 'alerts-fail';

/** The one number of a warning, such as `65 %`, `of the latest 120 attempts failed`. */
export interface WarningFigure {
  readonly value: Sentence;
  /** Completes a sentence that begins with the value. */
  readonly label: string;
}

/** A problem that is shown on the overview, together with advice on what to do about it. */
export interface Warning {
  readonly kind: WarningKind;
  /** Identifies what is wrong, for example `queue mail is paused`. Stays the same when numbers in the text change. */
  readonly cause: string;
  readonly text: Sentence;
  readonly figure?: WarningFigure;
  readonly course?: Course;
  /** What an operator can do about it, in one or more sentences. */
  readonly advice: Sentence | string;
  /** The path, inside the dashboard, of a page with more details. */
  readonly link: string;
  /**
   * Identifies what is affected, such as `server {id}`. A new warning with the same subject replaces an earlier one. Defaults to
   * `cause`.
   */
  readonly subject?: string;
  /** When the condition began, or at least since when it has existed; by default, when it was first observed. */
  readonly since?: Date;
  /** The one safe remedy that an operator can choose at once. */
  readonly button?: WarningButton;
  /**
   * Whether the condition is measured, like a waiting time, rather than stored, like a pause. Measurements fluctuate,
   * so the warning ends only when the condition has been absent for two minutes. Defaults to `false`.
   */
  readonly isMeasured?: boolean;
  /** Whether what is wrong is back to normal, but not yet for long enough to end the warning. Defaults to `false`. */
  readonly isRecovering?: boolean;
  /** The names of the webhooks that get the messages. All by default. */
  readonly tell?: readonly string[];
}

/**
 * A form of an action, as the views `action-button` and, with an `effect`, `confirmed-action` show it, or a link to a page
 * that asks for a confirmation.
 */
export interface WarningButton {
  /** The path of the action inside the dashboard. */
  readonly path: string;
  readonly word: string;
  /** Whether `path` is a page that asks for a confirmation, rather than an action. Defaults to `false`. */
  readonly isLink?: boolean;
  /** What the action does, if it needs a confirmation, and the words of the button that confirms it. */
  readonly effect?: string;
  readonly confirm?: string;
  /** Whether the form asks when the pause ends, and whether the installation can require a reason. */
  readonly ends?: boolean;
  readonly reasoned?: boolean;
  /** The keys of which the view `key-limit` sets the limit; absent if the button does something else. */
  readonly limits?: KeysToLimit;
}

/** The concurrency keys among which a form lets an operator choose. */
export interface KeysToLimit {
  readonly keys: readonly string[];
  /** What the form proposes; `null` for nothing. */
  readonly limit: number | null;
}

/** A warning together with its incident. */
export interface CurrentWarning extends Omit<Warning, 'kind'> {
  /** A {@link WarningKind}, as it was recorded. */
  readonly kind: string;
  /** `null` if the warning has not been recorded yet, which takes at most ten seconds. */
  readonly incident: Incident | null;
  /**
   * When a measured condition was last present; `null` if it still is, or was less than 25 seconds ago. After two minutes,
   * the warning ends.
   */
  readonly recoveringSince: Date | null;
  /** Whether somebody has muted it. Muted warnings follow all others. */
  readonly isMuted: boolean;
}

/**
 * Returns what to record of the current warnings.
 *
 * @param warnings most urgent first
 * @param nowMs the storage's time, which relative times in the texts refer to
 */
export function observedWarnings(warnings: readonly Warning[], nowMs: number): ObservedWarning[] {
  const observed = warnings.map((warning) => ({
    key: keyOf(warning),
    kind: warning.kind,
    subject: subjectOf(warning),
    text: plainText(warning.text, nowMs),
    advice: plainText([warning.advice].flat(), nowMs),
    link: warning.link,
    beganAt: warning.since ?? null,
    isMeasured: warning.isMeasured === true,
    isRecovering: warning.isRecovering === true,
    ...(warning.tell !== undefined && { tell: warning.tell }),
  }));
  // As they are stored, because long keys are shortened.
  return observed.map(storableWarning);
}

/**
 * Returns the current warnings: first the ones found now, then those that recover, and the muted ones last.
 *
 * @param found the warnings found now, most urgent first
 * @param active the incidents that have not ended
 */
export function currentWarnings(
  found: readonly Warning[],
  active: readonly Incident[],
  nowMs: number,
): CurrentWarning[] {
  const byKey = new Map(active.map((incident) => [incident.key, incident]));
  const observed = observedWarnings(found, nowMs);
  const keys = new Set(observed.map(({ key }) => key));
  const now = new Date(nowMs);
  const present = found.map((warning, index): CurrentWarning => {
    const recorded = observed[index];
    const known = recorded && byKey.get(recorded.key);
    // As the next check will record it: with the beginning that the text names.
    const incident = recorded && known && { ...known, since: lastingSince(recorded, known, now) };
    return {
      ...warning,
      incident: incident ?? null,
      recoveringSince: null,
      isMuted: incident !== undefined && isMuted(incident, now),
    };
  });
  const recovering = active
    .filter((incident) => incident.isMeasured && !keys.has(incident.key))
    .filter((incident) => !observed.some((warning) => isAboutSame(warning, incident)))
    .map((incident): CurrentWarning => {
      const { key, kind, text, advice, link, subject, seenAt } = incident;
      const recovers = isRecovering(incident, nowMs);
      const recorded = {
        kind,
        cause: key,
        text: [text],
        advice,
        link: pathIn(link),
        subject,
        isMeasured: true,
      };
      return {
        ...recorded,
        incident,
        isRecovering: recovers,
        recoveringSince: recovers ? seenAt : null,
        isMuted: isMuted(incident, now),
      };
    });
  const all = [...present, ...recovering];
  return [...all.filter((warning) => !warning.isMuted), ...all.filter((warning) => warning.isMuted)];
}

/** A measured condition that has not been seen for this long is recovering, in milliseconds. Checks run every ten seconds. */
const RECOVERING_MS = 25_000;

/**
 * Returns whether warnings of this kind may have begun earlier than they say. Which jobs a key has blocked is not stored, so
 * it is known only since when the next job in line has waited.
 */
export function mayHaveBegunEarlier({ kind }: Pick<CurrentWarning, 'kind'>): boolean {
  return kind === 'key-blocks';
}

/** Returns whether what is wrong is back to normal or, if it is measured, has not been seen lately. */
export function isRecovering(incident: Incident, nowMs: number): boolean {
  const { ending, isMeasured, seenAt } = incident;
  const isUnseen = isMeasured && nowMs - seenAt.getTime() > RECOVERING_MS;
  return ending === null && (incident.isRecovering || isUnseen);
}

/**
 * Returns a number of jobs or other things as a figure, such as `≥ 1,000`, `jobs wait`.
 *
 * @param bound whether the number is a bound, if it is not exact
 */
export function countFigure(
  count: number,
  one: string,
  many: string,
  bound: '' | '≥ ' | '≤ ' = '',
): WarningFigure {
  return { value: [`${bound}${formatNumber(count)}`], label: count === 1 ? one : many };
}

/** Returns a stored link if it is a path inside the dashboard; otherwise, that of the overview. */
export function pathIn(link: string): string {
  return /^[a-z-]+(?:[/?]|$)/.test(link) ? link : '';
}

/**
 * Returns what identifies a warning while it lasts. Warnings of what is measured share one key per subject, because their
 * cause can change at any moment, and a new cause must not begin a new incident.
 */
function keyOf({ cause, subject, isMeasured = false }: Warning): string {
  return isMeasured && subject !== undefined ? subject : cause;
}

function subjectOf({ cause, subject }: Warning): string {
  return subject ?? cause;
}
