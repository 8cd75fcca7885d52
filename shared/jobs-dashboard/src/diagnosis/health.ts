import { StorageUnavailableError } from '@longshore/jobs';
import { formatDuration } from '../format/time.js';
import type { Sentence } from '../format/sentence.js';
import type { StateCounts } from '@longshore/jobs/storage';
import { ReadTooSlowError, withDeadline } from '../cache/deadline.js';
import { counted, formatNumber } from '../format/count.js';
import type { ReadingContext } from '../reading/dashboard-reader.js';
import { isUntouched, readSituation, type Situation } from './situation.js';
import type { Warning } from './warning.js';
import { findWarnings } from './warnings.js';

/** A one-line summary of the current warnings, shown on every page. */
export interface Health {
  readonly tone: 'calm' | 'attention';
  readonly text: string;
}

/** Minimum time between the starts of two checks, in milliseconds. */
const EVERY_MS = 10_000;
/** Maximum age of a result that is shown, in milliseconds. */
const KEPT_MS = 60_000;

const lost: Health = { tone: 'attention', text: 'The storage does not respond' };

/**
 * Checks the overall state for all viewers of this process. Pages show the latest result and never wait for a check.
 */
export class HealthWatch {
  readonly #context: ReadingContext & { readonly warnings: WarningWatch };
  #health: Health | null = null;
  #knownAtMs = 0;
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(context: ReadingContext & { readonly warnings: WarningWatch }) {
    this.#context = context;
  }

  /**
   * The latest result; `null` if there is none from the last minute, or if the latest check failed for a reason other
   * than an unresponsive storage. Starts a new check if the last one started at least ten seconds ago.
   */
  get latest(): Health | null {
    const nowMs = this.#context.now();
    if (nowMs - this.#readAtMs >= EVERY_MS) {
      this.#readAtMs = nowMs;
      void this.#refresh();
    }
    return nowMs - this.#knownAtMs > KEPT_MS ? null : this.#health;
  }

  async #refresh(): Promise<void> {
    try {
      const situation = await withDeadline(readSituation(this.#context), this.#context.readTimeoutMs);
      const warnings = this.#context.warnings.judge(findWarnings(situation), situation.nowMs);
      this.#health =
        warnings.length === 0
          ? { tone: 'calm', text: 'All is well' }
          : { tone: 'attention', text: warningCount(warnings) };
    } catch (error) {
      // After any other error, no state is shown. The page reads the same data and reports the error.
      this.#health =
        error instanceof StorageUnavailableError || error instanceof ReadTooSlowError ? lost : null;
    }
    this.#knownAtMs = this.#context.now();
  }
}

interface OverallStatus {
  readonly tone: 'calm' | 'attention';
  readonly headline: string;
  readonly warnings: readonly CurrentWarning[];
}

export function overallState(
  situation: Situation,
  warnings: readonly CurrentWarning[],
  counts: StateCounts,
): OverallStatus {
  if (warnings.length > 0) {
    return {
      tone: 'attention',
      headline: headlineOf(warnings),
      warnings,
    };
  }
  const headline = isUntouched(situation) ? 'Nothing has run yet' : calmHeadline(counts, situation);
  return { tone: 'calm', headline, warnings };
}

/** Returns a headline such as `2 issues need attention, 1 has eased`. */
function headlineOf(warnings: readonly CurrentWarning[]): string {
  const eased = warnings.filter(({ easedAt }) => easedAt !== null).length;
  const current = warnings.length - eased;
  const parts = [
    current === 0 ? '' : `${counted(current, 'issue needs', 'issues need')} attention`,
    eased === 0
      ? ''
      : `${current === 0 ? counted(eased, 'issue') : formatNumber(eased)} ${eased === 1 ? 'has' : 'have'} eased`,
  ];
  return parts.filter(Boolean).join(', ');
}

/** Returns a count such as `2 warnings`, not including eased ones, or `2 eased warnings` if all have eased. */
export function warningCount(warnings: readonly CurrentWarning[]): string {
  const current = warnings.filter(({ easedAt }) => easedAt === null);
  return current.length > 0 ? counted(current.length, 'warning') : counted(warnings.length, 'eased warning');
}

function calmHeadline(counts: StateCounts, { recent }: Pick<Situation, 'recent'>): string {
  if (counts.processing > 0) return 'Jobs are running';
  if (counts.enqueued > 0) return 'Jobs are about to start';
  // `recent` covers the last ten minutes, so a short gap between two jobs does not count as idle.
  if (recent.done + recent.failed > 0) return 'All is well';
  return counts.scheduled + counts.awaiting > 0 ? 'Idle until the next job is due' : 'Idle';
}

/** How long a measured condition must be absent before its warning ends, in milliseconds. */
const ENDS_AFTER_MS = 2 * 60_000;

export interface CurrentWarning extends Warning {
  /** When the condition was last present; `null` if it still is. */
  readonly easedAt: Date | null;
}

interface Seen {
  readonly warning: Warning;
  readonly atMs: number;
}

/**
 * Keeps warnings from flapping: a warning about a measured condition ends only when the condition has been absent for
 * two minutes. Warnings about stored facts, such as a pause, end at once.
 */
export class WarningWatch {
  /** Warnings about measured conditions, by cause, until they end. */
  readonly #seen = new Map<string, Seen>();

  /**
   * Returns the current warnings: first the ones found now, then the ones that have eased. An eased warning is omitted
   * if a warning found now has the same subject or link.
   *
   * @param observed the warnings found now, at most one per cause
   */
  judge(observed: readonly Warning[], nowMs: number): CurrentWarning[] {
    for (const warning of observed) {
      if (warning.isMeasured === true) this.#seen.set(warning.cause, { warning, atMs: nowMs });
    }
    for (const [cause, { atMs }] of this.#seen) {
      if (nowMs - atMs >= ENDS_AFTER_MS) this.#seen.delete(cause);
    }
    const causes = new Set(observed.map(({ cause }) => cause));
    const subjects = new Set(observed.flatMap(subjectsOf));
    const eased = [...this.#seen].filter(
      ([cause, { warning }]) =>
        !causes.has(cause) && !subjectsOf(warning).some((subject) => subjects.has(subject)),
    );
    return [
      ...observed.map((warning) => ({ ...warning, easedAt: null })),
      ...eased.map(([, { warning, atMs }]) => ({
        ...warning,
        text: stoppedAt(warning.text, atMs),
        easedAt: new Date(atMs),
      })),
    ];
  }
}

/** Returns the sentence with its elapsed times frozen at `atMs`. */
function stoppedAt(text: Sentence, atMs: number): Sentence {
  return text.map((part) =>
    typeof part !== 'string' && 'since' in part ? formatDuration(atMs - part.since.getTime()) : part,
  );
}

function subjectsOf({ subject, link }: Warning): string[] {
  return subject === undefined ? [link] : [subject, link];
}
