import { isRedacted } from '@longshore/jobs/storage';
import type { Term } from './filters.js';

/**
 * Returns an error message if a term searches redacted values; `null` otherwise. Such a search could be used to guess
 * the values.
 */
export function hiddenTermError(terms: readonly Term[], redact: RegExp): string | null {
  const hidden = terms.find(
    ({ key }) =>
      key.startsWith('args.') &&
      key
        .split('.')
        .slice(1)
        .some((segment) => isRedacted(segment, redact)),
  );
  return hidden === undefined ? null : `“${hidden.key}:” cannot be searched: its values are redacted.`;
}
