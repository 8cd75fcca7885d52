import { StorageUnavailableError } from '@longshore/jobs';
import type { StateCounts } from '@longshore/jobs/storage';
import { ReadTooSlowError, withDeadline } from '../cache/deadline.js';
import { counted, formatNumber } from '../format/count.js';
import type { IncidentRecorder, ReadingContext } from '../reading/dashboard-reader.js';
import { isUntouched, readSituation, type Situation } from './situation.js';
import { type CurrentWarning, currentWarnings, observedWarnings, type Warning } from './warning.js';
import { findWarnings } from './warnings.js';

/** The query for the incidents that last. */
export const activeIncidents = { isActive: true, limit: 20_000 } as const;

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
const late: Health = { tone: 'attention', text: 'The check of the warnings took too long' };

/**
 * Records the warnings that were found, unless a process has done so within the last `everyMs` milliseconds. All processes
 * take turns.
 */
export async function recordWarnings(
  recorder: IncidentRecorder,
  everyMs: number,
  find: () => Promise<{ readonly found: readonly Warning[]; readonly nowMs: number }>,
): Promise<void> {
  if (!(await recorder.reserveCheck(everyMs))) return;
  const { found, nowMs } = await find();
  await recorder.observe(observedWarnings(found, nowMs));
}

/** Reads what is wrong now, within a time limit in milliseconds. */
export async function checkWarnings(
  context: Pick<ReadingContext, 'reader' | 'cache' | 'now' | 'machineNow'>,
  timeoutMs: number,
): Promise<{ readonly found: Warning[]; readonly nowMs: number }> {
  const situation = await withDeadline(readSituation(context), timeoutMs);
  return { found: findWarnings(situation), nowMs: situation.nowMs };
}

/**
 * Checks the overall state for all viewers of this process, and records the warnings. Pages show the latest result and never
 * wait for a check.
 */
export class HealthWatch {
  readonly #context: ReadingContext;
  readonly #recorder: IncidentRecorder;
  #health: Health | null = null;
  #knownAtMs = 0;
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(context: ReadingContext, recorder: IncidentRecorder) {
    this.#context = context;
    this.#recorder = recorder;
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
    const { reader, readTimeoutMs } = this.#context;
    try {
      const check = await checkWarnings(this.#context, readTimeoutMs);
      const active = await withDeadline(reader.incidents.list(activeIncidents), readTimeoutMs);
      const warnings = currentWarnings(check.found, active, check.nowMs);
      this.#health =
        warnings.length === 0
          ? { tone: 'calm', text: 'All is well' }
          : { tone: 'attention', text: warningCount(warnings) };
      this.#knownAtMs = this.#context.now();
      // A dashboard that cannot write still shows warnings; only their history has a gap.
      await recordWarnings(this.#recorder, EVERY_MS, async () => check).catch(() => undefined);
    } catch (error) {
      // After any other error, no state is shown. The page reads the same data and reports the error.
      this.#health =
        error instanceof ReadTooSlowError ? late : error instanceof StorageUnavailableError ? lost : null;
      this.#knownAtMs = this.#context.now();
    }
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

/** Returns a headline such as `2 warnings, 1 of them recovering`. */
function headlineOf(warnings: readonly CurrentWarning[]): string {
  const loud = warnings.filter(({ isMuted }) => !isMuted);
  if (loud.length === 0) return counted(warnings.length, 'muted warning');
  const recovering = loud.filter(({ isRecovering = false }) => isRecovering).length;
  if (recovering === loud.length) return counted(recovering, 'recovering warning');
  return `${counted(loud.length, 'warning')}${recovering === 0 ? '' : `, ${formatNumber(recovering)} of them recovering`}`;
}

/** Returns a count such as `2 warnings`: those that neither recover nor are muted or, if there are none, all. */
export function warningCount(warnings: readonly CurrentWarning[]): string {
  const current = warnings.filter(({ isRecovering = false, isMuted }) => !isRecovering && !isMuted);
  return current.length > 0 ? counted(current.length, 'warning') : headlineOf(warnings);
}

function calmHeadline(counts: StateCounts, { recent }: Pick<Situation, 'recent'>): string {
  if (counts.processing > 0) return 'Jobs are running';
  if (counts.enqueued > 0) return 'Jobs are about to start';
  // `recent` covers the last ten minutes, so a short gap between two jobs does not count as idle.
  if (recent.done + recent.failed > 0) return 'All is well';
  return counts.scheduled + counts.awaiting > 0 ? 'Idle until the next job is due' : 'Idle';
}
