import { fold, type Spelling, spellingsOf, wordPattern, wordsOf } from '@longshore/edge';
import type { CollectionQuery, Selection, SortTerm } from '../query/collection-query.js';
import type { Filter } from '../query/filter.js';
import { type Column, columnOf, type Columns } from './columns.js';

/** Collects the parameters of a statement, so that the SQL contains only placeholders. */
export class Parameters {
  readonly values: unknown[] = [];

  /** Adds a value and returns its placeholder. */
  add(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

/**
 * Returns the SQL expression that `q` searches. The expression must be indexable. It leaves out arrays, because
 * Postgres has no immutable function that converts them to text.
 */
export function searchExpression(columns: Columns, fields: readonly string[], alias = 't.'): string {
  const texts = fields
    .map((field) => columnOf(columns, field))
    .filter(({ type }) => type !== 'array')
    .map(({ name }) => `coalesce(${alias}${name}, '')`);
  return texts.length === 0 ? "('')" : `(${texts.join(" || ' ' || ")})`;
}

/** A selection whose search can tolerate typos. */
export interface SearchedSelection extends Pick<Selection, 'filters' | 'search'> {
  /** The spellings of each word of the search; by default, only the words themselves. */
  readonly words?: readonly (readonly Spelling[])[];
}

/** Returns the WHERE conditions for the filters and the search of a selection. */
export function selectionConditions(
  columns: Columns,
  searchText: string,
  selection: SearchedSelection,
  parameters: Parameters,
): readonly string[] {
  const conditions = selection.filters.map((filter) => filterCondition(columns, filter, parameters));
  if (selection.search === undefined) return conditions;
  const words = selection.words ?? spellingsOf(wordsOf(selection.search), []);
  return [...conditions, ...words.map((spellings) => occursIn(searchText, spellings, parameters))];
}

/**
 * Returns the condition that a text contains one of the spellings of a word, in any case. An index of trigrams supports
 * it. The pattern lists the characters that fold to those of the word, because what `ilike` does depends on the
 * database's locale.
 */
export function occursIn(text: string, spellings: readonly Spelling[], parameters: Parameters): string {
  const patterns = spellings.map((spelling) => wordPattern(spelling.text));
  return `${text} ~ ${parameters.add(`(?:${patterns.join('|')})`)}`;
}

/** Joins conditions with `and`. Returns `true` if there are none. */
export function allOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? 'true' : conditions.join(' and ');
}

function filterCondition(columns: Columns, filter: Filter, parameters: Parameters): string {
  const column = columnOf(columns, filter.field);
  const [value] = filter.values;
  switch (filter.match) {
    case 'exact':
      if (column.type === 'array')
        return `to_jsonb(${column.sql}) ?| ${parameters.add(filter.values.map(String))}`;
      return filter.values.length === 1
        ? `${column.compared} = ${parameters.add(value)}`
        : `${column.compared} = any(${parameters.add(filter.values)})`;
    case 'partial':
      return occursIn(column.sql, [{ text: fold(String(value)), typos: 0 }], parameters);
    case 'from':
      return `${column.sql} >= ${parameters.add(roundedBound(column, value, Math.ceil))}`;
    case 'to':
      return `${column.sql} <= ${parameters.add(roundedBound(column, value, Math.floor))}`;
    case 'path':
      return `${column.sql} #>> ${parameters.add(filter.path)} = any(${parameters.add(filter.values)})`;
  }
}

/**
 * Rounds a bound for an integer column. With a fraction, Postgres would have to cast the column and could not use its
 * index.
 */
function roundedBound(
  column: Column,
  value: Filter['values'][number] | undefined,
  round: (value: number) => number,
): unknown {
  return column.type === 'integer' && typeof value === 'number' ? round(value) : value;
}

/**
 * Returns the ORDER BY expressions: text by the collation of its column, and null last in both directions. `reversed`
 * inverts the whole order.
 */
export function orderBy(columns: Columns, sort: readonly SortTerm[], reversed = false): string {
  return sort
    .map(({ field, direction }) => {
      const { sql, collation, nullable, optional } = columnOf(columns, field);
      const nulls = nullable || optional ? ` nulls ${reversed ? 'first' : 'last'}` : '';
      return `${sql}${collation} ${(direction === 'desc') === reversed ? 'asc' : 'desc'}${nulls}`;
    })
    .join(', ');
}

/**
 * Returns the condition for rows beyond a cursor in the order of `sort`. If all columns have the same direction and
 * cannot be null, the condition is a row comparison and can use an index. Otherwise it compares column by column.
 */
export function seekCondition(
  columns: Columns,
  sort: readonly SortTerm[],
  seek: NonNullable<CollectionQuery['seek']>,
  parameters: Parameters,
): string {
  const isForward = seek.direction === 'after';
  const terms = sort.map(({ field, direction }, index) => ({
    column: columnOf(columns, field),
    value: seek.values[index] ?? null,
    operator: (direction === 'asc') === isForward ? ('>' as const) : ('<' as const),
  }));
  const [first] = terms;
  const simple = terms.every(
    ({ column, operator }) => operator === first?.operator && !column.nullable && !column.optional,
  );
  if (simple && first !== undefined) {
    const left = terms.map(({ column }) => column.sql + column.collation).join(', ');
    const right = terms.map(({ value }) => parameters.add(value)).join(', ');
    return `(${left}) ${first.operator} (${right})`;
  }
  const alternatives = terms.map(({ column, operator, value }, index) => {
    const equal = terms
      .slice(0, index)
      .map((before) =>
        before.value === null
          ? `${before.column.sql} is null`
          : `${before.column.sql} = ${parameters.add(before.value)}`,
      );
    return allOf([...equal, beyond(column, operator, value, isForward, parameters)]);
  });
  return `(${alternatives.join(' or ')})`;
}

/** Returns the condition for values of one column beyond `value`. Null is beyond all others going forward. */
function beyond(
  { sql, collation }: Column,
  operator: '<' | '>',
  value: unknown,
  isForward: boolean,
  parameters: Parameters,
): string {
  if (value === null) return isForward ? 'false' : `${sql} is not null`;
  const compared = `${sql}${collation} ${operator} ${parameters.add(value)}`;
  return isForward ? `(${compared} or ${sql} is null)` : compared;
}
