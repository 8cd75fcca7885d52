import fc from 'fast-check';
import type { Operation } from '@longshore/test-support';
import { fittingRequest } from './any-request.js';
import type { Vocabulary } from './legal.js';
import type { Chain } from './plan.js';

/**
 * Returns a generator for each collection with operations on its items. The generated chains create an item and then
 * perform three to eight operations on it or its subresources, in any order.
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
