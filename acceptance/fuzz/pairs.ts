import covertable from 'covertable';
import fc from 'fast-check';
import type { Operation, Parameter } from '@longshore/test-support';
import type { Vocabulary } from './legal.js';
import { type Pair, legalPairs } from './parameter-values.js';
import type { Chain } from './plan.js';

type Row = readonly (readonly Pair[])[];

/** Parameters that determine where a page starts. A request can contain only one of them. */
const places: ReadonlySet<string> = new Set(['offset', 'after', 'before']);

/**
 * Generates requests for each collection. Together, the requests cover every pair of sampled values of any two query
 * parameters. Collections with the same parameters share a covering array.
 */
export function allPairs(
  vocabulary: Vocabulary,
  operations: readonly Operation[],
  seed: number,
): readonly Chain[] {
  const arrays = new Map<string, readonly Row[]>();
  return operations.flatMap((operation) => {
    const names = operation.parameters.filter((parameter) => parameter.in === 'query');
    if (!names.some(({ name }) => name === 'limit')) return [];
    const key = JSON.stringify(names);
    const rows = arrays.get(key) ?? coveringArray(vocabulary, operation, seed);
    arrays.set(key, rows);
    return rows.map((row, item): Chain => [
      {
        operation,
        path: {},
        item,
        query: row.flat(),
        rawQuery: '',
        headers: {},
        body: undefined,
      },
    ]);
  });
}

/**
 * Number of levels in the covering array that omit a parameter. About as many levels set it, so each request contains
 * about half of all parameters.
 */
const absent = 3;
/** Approximate number of levels that set a parameter. Each level sets a different value. */
const present = 3;

function coveringArray(vocabulary: Vocabulary, { parameters }: Operation, seed: number): readonly Row[] {
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const isPlace = ({ name }: Parameter): boolean => places.has(name);
  const factors = [
    ...inQuery.filter((parameter) => !isPlace(parameter)).map((parameter) => [parameter]),
    inQuery.filter(isPlace),
  ];
  const levels = factors.map((alternatives) => levelsOf(vocabulary, alternatives, seed));
  // The simple criterion generates a few more rows than the greedy one, but takes a tenth of the time.
  return covertable.make(levels, { seed, criterion: covertable.criteria.simple });
}

/**
 * Returns the levels of a single parameter, or of parameters that exclude each other. Each level is empty or sets one
 * of the parameters.
 */
function levelsOf(
  vocabulary: Vocabulary,
  alternatives: readonly Parameter[],
  seed: number,
): (readonly Pair[])[] {
  const each = Math.ceil(present / alternatives.length);
  const values = alternatives.flatMap((parameter) => {
    const sample = fc.sample(legalPairs(vocabulary, parameter), { seed, numRuns: each * 4 });
    return [...new Map(sample.map((pairs) => [JSON.stringify(pairs), pairs])).values()].slice(0, each);
  });
  return [...Array.from({ length: absent }, (): readonly Pair[] => []), ...values];
}
