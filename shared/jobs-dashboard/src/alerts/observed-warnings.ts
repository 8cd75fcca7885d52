import type { ObservedWarning } from '@longshore/jobs/storage';
import type { Warning } from '../diagnosis/warning.js';
import { plainText } from '../format/plain-text.js';

/**
 * Converts warnings to the form that alerts track. Warnings with `isMeasured` share one key per subject, because their
 * cause can change at any moment, and a new cause must not begin a new alert. Of the warnings with the same key,
 * returns only the most urgent.
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
