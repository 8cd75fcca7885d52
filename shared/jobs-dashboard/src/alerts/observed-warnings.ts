import type { ObservedWarning } from '@longshore/jobs/storage';
import type { Warning } from '../diagnosis/warning.js';
import { plainText } from '../format/plain-text.js';

/**
 * Converts warnings to the form that alerts track. Measured warnings about the same subject share a key, and only the
 * most urgent of them is returned. A measured cause can change at any moment; without the shared key, each change would
 * begin a new alert.
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
