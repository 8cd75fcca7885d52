import { sortCollation } from '@longshore/edge';
import { DefinitionError } from '../definition/naming.js';
import type { Resource } from '../definition/resource.js';
import { type ItemRecord, type JsonSchema, typesOf } from '../validation/json-schema.js';

/** A field of the item, and the column that stores it. */
export interface Column {
  readonly field: string;
  /** The quoted column name with the alias of the table: `t."created_at"`. */
  readonly sql: string;
  /** The quoted column name without an alias. */
  readonly name: string;
  /** The expression to select. Converts times and numbers in SQL, so that the driver's type parsers do not matter. */
  readonly read: string;
  readonly type: 'time' | 'number' | 'integer' | 'array' | 'other';
  /** The collation that sorts the column, as an SQL clause with a space before it; empty unless it holds free text. */
  readonly collation: string;
  /** The column as an operand of `=`, in the form in which the index for sorting can find it. */
  readonly compared: string;
  /** Whether the field's schema allows null. */
  readonly nullable: boolean;
  /** Whether the field may be absent. */
  readonly optional: boolean;
}

export type Columns = ReadonlyMap<string, Column>;

interface Table {
  readonly columns?: Readonly<Record<string, string | undefined>>;
  readonly indexes?: { readonly sort?: readonly string[] };
}

export function columnsOf(resource: Pick<Resource, 'item' | 'key' | 'sort'>, table: Table = {}): Columns {
  const { item } = resource;
  const sorted = new Set(indexedSorts(resource, table));
  return new Map(
    Object.entries(item.properties ?? {}).map(([field, schema]) => {
      const name = quoted(table.columns?.[field] ?? snakeCase(field));
      const type = columnType(schema);
      const sql = `t.${name}`;
      const nullable = typesOf(schema).includes('null');
      const collation = isFreeText(schema) ? ` collate ${sortCollation}` : '';
      const optional = !(item.required ?? []).includes(field);
      return [
        field,
        {
          field,
          name,
          sql,
          type,
          collation,
          compared: sorted.has(field) ? sql + collation : sql,
          nullable,
          optional,
          read: `${readAs(type, sql)} as "${field}"`,
        },
      ];
    }),
  );
}

/** Returns the fields, other than the key, whose columns have an index for sorting. */
export function indexedSorts(
  { item, key, sort }: Pick<Resource, 'item' | 'key' | 'sort'>,
  { indexes }: Table,
): readonly string[] {
  const fields = indexes?.sort ?? sort.filter((field) => isShort(item.properties?.[field] ?? {}));
  return fields.filter((field) => field !== key);
}

/**
 * Maximum length, in characters, of text that is indexed for sorting by default. A B-tree entry has at most 2704 bytes,
 * and a character takes up to four.
 */
const shortText = 500;

function isShort(schema: JsonSchema): boolean {
  return (schema.anyOf ?? [schema]).every(
    ({ type, format, enum: values, maxLength = Infinity }) =>
      type !== 'string' || format !== undefined || values !== undefined || maxLength <= shortText,
  );
}

/**
 * Converts a row that was read with `Column.read` to an item. Omits an optional field that is null, unless the schema
 * allows null.
 */
export function itemFromRow(columns: Columns, row: ItemRecord): ItemRecord {
  return Object.fromEntries(
    [...columns.values()]
      .filter(({ field, nullable, optional }) => row[field] !== null || nullable || !optional)
      .map(({ field }) => [field, row[field]]),
  );
}

export function columnOf(columns: Columns, field: string): Column {
  const column = columns.get(field);
  if (column === undefined) throw new Error(`the table has no column for "${field}"`);
  return column;
}

/** Quotes each part of a table name: `shop.order` → `"shop"."order"`. */
export function quotedTable(name: string): string {
  return name.split('.').map(quoted).join('.');
}

function quoted(name: string): string {
  if (!/^[a-z_][a-z0-9_]*$/.test(name)) {
    throw new DefinitionError(
      `"${name}" is not a valid SQL name: use lower-case letters, digits and underscores`,
    );
  }
  return `"${name}"`;
}

function snakeCase(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function columnType(schema: JsonSchema): Column['type'] {
  const types = typesOf(schema);
  if (types.includes('date-time')) return 'time';
  if (types.includes('number')) return 'number';
  if (types.includes('integer')) return 'integer';
  return types.includes('array') ? 'array' : 'other';
}

/** Returns whether a schema is text without a fixed set of values, for which the column might have a type of its own. */
function isFreeText(schema: JsonSchema): boolean {
  if (schema.anyOf !== undefined) return schema.anyOf.some(isFreeText);
  const isText = schema.type === 'string' && schema.enum === undefined && schema.const === undefined;
  return isText && (schema.format === undefined || schema.format === 'email');
}

function readAs(type: Column['type'], sql: string): string {
  switch (type) {
    case 'time':
      return `to_char(${sql} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
    case 'number':
    case 'integer':
      return `${sql}::float8`;
    case 'array':
    case 'other':
      return sql;
  }
}
