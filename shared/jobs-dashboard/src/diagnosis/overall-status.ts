import type { StateCounts } from '@longshore/jobs/storage';
import { counted, formatNumber } from '../format/count.js';
import type { CurrentWarning } from './warning-watch.js';
import { isUntouched } from './untouched.js';
import type { Situation } from './warnings.js';

export interface OverallStatus {
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
