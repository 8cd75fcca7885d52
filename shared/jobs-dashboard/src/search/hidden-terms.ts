import { isRedacted } from '../format/redaction.js';
import type { Term } from './filters.js';

/**
 * Why terms cannot be used that ask for what is not shown: whoever may search for it can guess it. `null` if there are none.
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
  return hidden === undefined
    ? null
    : `“${hidden.key}:” cannot be searched for: what stands there is not shown.`;
}
