import type { ObservedWarning } from '@longshore/jobs/storage';
import type { Warning } from '../diagnosis/warning.js';
import { plainText } from '../format/plain-text.js';

/**
 * Converts warnings to the form in which alerts track them. Measured warnings about the same subject share a key, and
 * only the most urgent of them is returned. Otherwise a measured cause, which can change from one moment to the next,
 * would begin a new alert each time.
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
