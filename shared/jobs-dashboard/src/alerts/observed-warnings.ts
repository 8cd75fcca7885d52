import type { ObservedWarning } from '@longshore/jobs/storage';
import type { Warning } from '../diagnosis/warning.js';
import { plainText } from '../format/plain-text.js';

/**
 * Returns warnings as alerts. Of measured warnings about the same thing, the most urgent one is returned, under a key that does
 * not depend on the cause: what is measured changes from one moment to the next, and must not begin another alert.
 *
 * @param warnings most urgent first
 */
export function observedWarnings(warnings: readonly Warning[], nowMs: number): ObservedWarning[] {
  const byKey = new Map<string, ObservedWarning>();
  for (const warning of warnings) {
    const key = keyOf(warning);
    const { text, advice, link } = warning;
    if (!byKey.has(key)) byKey.set(key, { key, text: plainText(text, nowMs), advice, link });
  }
  return [...byKey.values()];
}

function keyOf({ cause, subject, isMeasured = false }: Warning): string {
  return isMeasured && subject !== undefined ? subject : cause;
}
