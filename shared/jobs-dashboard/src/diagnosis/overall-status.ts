import type { StateCounts } from '@longshore/jobs/storage';
import { counted } from '../format/count.js';
import type { Warning } from './warning.js';
import { isUntouched } from './untouched.js';
import { findWarnings, type Situation } from './warnings.js';

/** The overall state with its warnings. */
export interface OverallStatus {
  readonly tone: 'calm' | 'attention';
  readonly headline: string;
  readonly warnings: readonly Warning[];
}

export function overallState(situation: Situation, counts: StateCounts): OverallStatus {
  const warnings = findWarnings(situation);
  if (warnings.length > 0) {
    return {
      tone: 'attention',
      headline: `${counted(warnings.length, 'issue needs', 'issues need')} attention`,
      warnings,
    };
  }
  const headline = isUntouched(situation) ? 'Nothing has run yet' : calmHeadline(counts);
  return { tone: 'calm', headline, warnings };
}

function calmHeadline(counts: StateCounts): string {
  if (counts.processing > 0) return 'Jobs are running';
  if (counts.enqueued > 0) return 'Jobs are about to start';
  return counts.scheduled + counts.awaiting > 0 ? 'Idle until the next job is due' : 'Idle';
}
