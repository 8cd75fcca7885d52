import type { Resource } from '../definition/resource.js';
import { columnOf, type Columns, columnsOf, quotedTable } from './columns.js';
import { searchExpression } from './conditions.js';
import { tableOf } from './table-storage.js';

/**
 * Returns the CREATE INDEX statements for a migration: one for every sort, filter, child and search, so that no query that
 * the API allows has to scan a whole table. They need the extension `pg_trgm`.
 */
export function tableIndexes(resources: readonly Resource[]): readonly string[] {
  // The index for a child's parent has the same name as that of a filter on the field, and replaces it.
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
  const sorted = resource.sort.filter((field) => field !== resource.key);
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
    ...(resource.search.length === 0
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
    const columns = columnsOf(child.item, tableOf(child)?.columns ?? {});
    const own =
      by === undefined
        ? []
        : [index(child, columns, by, `(${name(columns, by)}, ${name(columns, child.key)})`)];
    return [...own, ...childIndexes(child)].flat();
  });
}

/** Returns no index for a view, which cannot have one. */
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
