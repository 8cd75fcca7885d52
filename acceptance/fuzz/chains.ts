import fc from 'fast-check';
import type { Operation } from '@longshore/test-support';
import { fittingRequest } from './any-request.js';
import type { Vocabulary } from './legal.js';
import type { Chain } from './plan.js';

/**
 * Returns one generator of chains for each collection that has operations on its items. A chain creates an item, then
 * performs three to eight random operations on the item or its subresources.
 */
export function chains(
  vocabulary: Vocabulary,
  operations: readonly Operation[],
): readonly fc.Arbitrary<Chain>[] {
  return operations
    .filter(({ method }) => method === 'POST')
    .flatMap((create) => {
      const below = operations.filter(({ template }) => template.startsWith(`${create.template}/{`));
      if (below.length === 0) return [];
      const step = fc.constantFrom(...below).chain((operation) => fittingRequest(vocabulary, operation));
      return [
        fc
          .tuple(fittingRequest(vocabulary, create), fc.array(step, { minLength: 3, maxLength: 8 }))
          .map(([first, rest]) => [first, ...rest]),
      ];
    });
}
