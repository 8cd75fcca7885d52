import fc from 'fast-check';
import type { Operation } from '@longshore/test-support';
import { anyRequest } from './any-request.js';
import { chains } from './chains.js';
import type { Vocabulary } from './legal.js';
import type { Options } from './options.js';
import { allPairs } from './pairs.js';
import type { Chain } from './plan.js';

/** Number of chains per collection. */
const livesEach = 30;

/**
 * Relative frequency of each method. Methods with a body are more frequent, because their requests have more variants.
 * Deletions are rare, because they leave less to test.
 */
const weights: Readonly<Record<string, number>> = { GET: 2, POST: 5, PUT: 4, PATCH: 4, DELETE: 1 };

/**
 * Returns all requests of a run in random order: requests for all pairs of list parameters, the {@link chains}, and
 * random single requests.
 */
export function deckOf(
  vocabulary: Vocabulary,
  operations: readonly Operation[],
  { seed, requests }: Options,
): readonly Chain[] {
  const lives = chains(vocabulary, operations).flatMap((chain, index) =>
    fc.sample(chain, { seed: seed + index, numRuns: livesEach }),
  );
  const planned = [...allPairs(vocabulary, operations, seed), ...lives];
  const left = requests - planned.reduce((sum, chain) => sum + chain.length, 0);
  const whole = operations.reduce((sum, operation) => sum + weightOf(operation), 0);
  const singles = operations.flatMap((operation, index) => {
    const numRuns = Math.max(5, Math.ceil((left * weightOf(operation)) / whole));
    const plans = fc.sample(anyRequest(vocabulary, operation), { seed: seed + index, numRuns });
    return plans.map((plan): Chain => [plan]);
  });
  return shuffled([...planned, ...singles], seed);
}

function weightOf({ method, template }: Operation): number {
  return method === 'DELETE' && template.endsWith('}') ? 2 : (weights[method] ?? 1);
}

function shuffled<Value>(values: readonly Value[], seed: number): readonly Value[] {
  const [order = []] = fc.sample(fc.shuffledSubarray([...values.keys()], { minLength: values.length }), {
    seed,
    numRuns: 1,
  });
  return order.map((index) => values[index]).filter((value) => value !== undefined);
}
