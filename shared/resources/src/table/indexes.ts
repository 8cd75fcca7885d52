import type { Resource } from '../definition/resource.js';
import { columnOf, type Columns, columnsOf, quotedTable } from './columns.js';
import { searchExpression } from './conditions.js';
import { tableOf } from './table-storage.js';

/**
 * Returns the CREATE INDEX statements for a migration. They cover sorts, search, references to parents, and all filters
 * except `path`. The indexes for search and `partial` filters need the extension `pg_trgm`.
 */
export function tableIndexes(resources: readonly Resource[]): readonly string[] {
  // A filter and a child's reference to its parent can need an index of the same name. The index for the reference then
  // replaces the other, because it serves both.
  const indexes = [...resources.flatMap(ownIndexes), ...resources.flatMap(childIndexes)];
  const statements = new Map(indexes.map(({ name, statement }) => [name, statement]));
  return [...statements.values()];
}

interface Index {
  readonly name: string;
  readonly statement: string;
}

function ownIndexes(resource: Resource): readonly Index[] {
  const columns = columnsOf(resource.item, tableOf(resource)?.columns ?? {});
  const indexes = tableOf(resource)?.indexes ?? {};
  const sorted = (indexes.sort ?? resource.sort.filter((field) => isShort(resource, field))).filter(
    (field) => field !== resource.key,
  );
  const compared = [...resource.filters.values()].filter(
    ({ field, match }) =>
      match !== 'partial' && match !== 'path' && field !== resource.key && !sorted.includes(field),
  );
  const partial = [...resource.filters.values()].filter(({ match }) => match === 'partial');
  return [
    ...sorted.map((field) =>
      index(resource, columns, field, `(${name(columns, field)}, ${name(columns, resource.key)})`),
    ),
    ...compared.map(({ field }) => index(resource, columns, field, `(${name(columns, field)})`)),
    ...partial.map(({ field }) =>
      index(resource, columns, `${field}Partial`, `using gin (${name(columns, field)} gin_trgm_ops)`),
    ),
    ...(resource.search.length === 0 || indexes.search === false
      ? []
      : [
          index(
            resource,
            columns,
            'search',
            `using gin (${searchExpression(columns, resource.search, '')} gin_trgm_ops)`,
          ),
        ]),
  ].flat();
}

/**
 * Maximum length, in characters, of text that is indexed for sorting by default. A B-tree entry has at most 2704 bytes,
 * and a character takes up to four.
 */
const shortText = 500;

function isShort({ item }: Resource, field: string): boolean {
  const schema = item.properties?.[field] ?? {};
  return (schema.anyOf ?? [schema]).every(
    ({ type, format, enum: values, maxLength = Infinity }) =>
      type !== 'string' || format !== undefined || values !== undefined || maxLength <= shortText,
  );
}

function childIndexes(resource: Resource): readonly Index[] {
  return [...resource.children.values()].flatMap(({ resource: child, by }) => {
    const columns = columnsOf(child.item, tableOf(child)?.columns ?? {});
    const own =
      by === undefined
        ? []
        : [index(child, columns, by, `(${name(columns, by)}, ${name(columns, child.key)})`)];
    return [...own, ...childIndexes(child)].flat();
  });
}

/**
 * Returns a list with one index; empty if the resource is not stored in a table or its table is a view, because views
 * cannot have indexes.
 */
function index(resource: Resource, columns: Columns, field: string, on: string): readonly Index[] {
  const table = tableOf(resource);
  if (table === undefined || table.view === true) return [];
  const column =
    columns.get(field)?.name.slice(1, -1) ?? field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const name = `${table.name.split('.').at(-1) ?? table.name}_${column}_idx`;
  return [{ name, statement: `create index if not exists "${name}" on ${quotedTable(table.name)} ${on}` }];
}

function name(columns: Columns, field: string): string {
  return columnOf(columns, field).name;
}
