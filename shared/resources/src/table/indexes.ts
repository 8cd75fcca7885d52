import type { Resource } from '../definition/resource.js';
import { columnOf, type Columns, columnsOf, indexedSorts, quotedTable } from './columns.js';
import { searchExpression } from './conditions.js';
import type { AnyTable } from './table-declaration.js';
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
  const table: Partial<AnyTable> = tableOf(resource) ?? {};
  const columns = columnsOf(resource, table);
  const sorted = indexedSorts(resource, table);
  const compared = [...resource.filters.values()].filter(
    ({ field, match }) =>
      match !== 'partial' && match !== 'path' && field !== resource.key && !sorted.includes(field),
  );
  const partial = [...resource.filters.values()].filter(({ match }) => match === 'partial');
  return [
    ...sorted.map((field) =>
      index(resource, columns, field, `(${sortedBy(columns, field)}, ${sortedBy(columns, resource.key)})`),
    ),
    ...sorted
      .filter((field) => isNullable(columns, field))
      .map((field) =>
        index(
          resource,
          columns,
          `${field}Desc`,
          `(${sortedBy(columns, field)} desc nulls last, ${sortedBy(columns, resource.key)} desc)`,
        ),
      ),
    // The index of the primary key has the collation of the database.
    ...(columnOf(columns, resource.key).collation === ''
      ? []
      : [index(resource, columns, `${resource.key}Sorted`, `(${sortedBy(columns, resource.key)})`)]),
    ...compared.map(({ field }) => index(resource, columns, field, `(${name(columns, field)})`)),
    ...partial.map(({ field }) =>
      index(resource, columns, `${field}Partial`, `using gin (${name(columns, field)} gin_trgm_ops)`),
    ),
    ...(resource.search.length === 0 || table.indexes?.search === false
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

function childIndexes(resource: Resource): readonly Index[] {
  return [...resource.children.values()].flatMap(({ resource: child, by }) => {
    const columns = columnsOf(child, tableOf(child));
    const declared =
      by === undefined
        ? []
        : [index(child, columns, by, `(${name(columns, by)}, ${sortedBy(columns, child.key)})`)];
    return [...declared, ...childIndexes(child)].flat();
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

/** Returns a column with the collation in which pages are sorted. */
function sortedBy(columns: Columns, field: string): string {
  const column = columnOf(columns, field);
  return column.name + column.collation;
}

function isNullable(columns: Columns, field: string): boolean {
  const { nullable, optional } = columnOf(columns, field);
  return nullable || optional;
}

function name(columns: Columns, field: string): string {
  return columnOf(columns, field).name;
}
