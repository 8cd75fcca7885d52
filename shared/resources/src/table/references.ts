import type { Queryable } from '../database/database.js';
import type { Resource } from '../definition/resource.js';
import type { UncheckedBody } from '../definition/storage.js';
import type { Problem } from '../errors/api-error.js';
import { type ItemRecord, join } from '../validation/json-schema.js';
import { validatorFor } from '../validation/validator.js';
import { type Columns, quotedTable } from './columns.js';
import { Parameters } from './conditions.js';

/** A foreign key with a single column. */
interface Reference {
  readonly field: string;
  /** The quoted table and column that the field refers to, and the type of that column. */
  readonly table: string;
  readonly key: string;
  readonly type: string;
}

/**
 * Finds values in bodies that refer to no existing row. Postgres reports only the first violated foreign key of a
 * statement, and only after the rest of the body is valid.
 */
export class TableReferences {
  readonly #resource: Resource;
  readonly #columns: Columns;
  readonly #table: string;
  #known: Promise<readonly Reference[]> | undefined;

  constructor(resource: Resource, table: string, columns: Columns) {
    this.#resource = resource;
    this.#columns = columns;
    this.#table = quotedTable(table);
  }

  /** Returns one problem for each value that refers to nothing. Ignores values that their schema does not allow. */
  async problems(connection: Queryable, bodies: readonly UncheckedBody[]): Promise<readonly Problem[]> {
    const references = await this.#references(connection);
    const referring = references.flatMap((reference) => {
      const values = new Set(bodies.flatMap(({ body }) => this.#valueIn(body, reference.field) ?? []));
      return values.size === 0 ? [] : [{ reference, values: [...values] }];
    });
    if (referring.length === 0) return [];
    const parameters = new Parameters();
    const selects = referring.map(
      ({ reference: { field, table, key, type }, values }) =>
        `select ${parameters.add(field)}::text as field, given.value::text as value
         from unnest(${parameters.add(values)}::text[]::${type}[]) as given (value)
         where not exists (select from ${table} as target where target.${key} = given.value)`,
    );
    const { rows } = await connection.query<{ field: string; value: string }>(
      selects.join(' union all '),
      parameters.values,
    );
    const missing = new Set(rows.map(({ field, value }) => `${field} ${value}`));
    return bodies.flatMap(({ body, at }) =>
      references
        .filter(({ field }) => missing.has(`${field} ${this.#valueIn(body, field)}`))
        .map(({ field }) => ({
          code: 42202 as const,
          internalMessage: `${join(at, field)} refers to no existing item`,
        })),
    );
  }

  #valueIn(body: unknown, field: string): string | undefined {
    if (typeof body !== 'object' || body === null) return undefined;
    const value = (body as ItemRecord)[field];
    const isText = typeof value === 'string' || typeof value === 'number';
    const schema = this.#resource.item.properties?.[field] ?? {};
    return isText && validatorFor(schema).explain(value).length === 0 ? String(value) : undefined;
  }

  /** Reads the foreign keys of the table once. After an error, the next call tries again. */
  async #references(connection: Queryable): Promise<readonly Reference[]> {
    this.#known ??= this.#read(connection);
    try {
      return await this.#known;
    } catch (error) {
      this.#known = undefined;
      throw error;
    }
  }

  async #read(connection: Queryable): Promise<readonly Reference[]> {
    const { rows } = await connection.query<Record<'column' | 'table' | 'key' | 'type', string>>(
      `select quote_ident(own.attname) as "column", quote_ident(schema.nspname) || '.' || quote_ident(target.relname) as "table",
         quote_ident(key.attname) as "key", format_type(key.atttypid, key.atttypmod) as "type"
       from pg_constraint as reference
       join pg_class as target on target.oid = reference.confrelid
       join pg_namespace as schema on schema.oid = target.relnamespace
       join pg_attribute as own on own.attrelid = reference.conrelid and own.attnum = reference.conkey[1]
       join pg_attribute as key on key.attrelid = reference.confrelid and key.attnum = reference.confkey[1]
       where reference.conrelid = to_regclass($1) and reference.contype = 'f' and cardinality(reference.conkey) = 1`,
      [this.#table],
    );
    const fields = new Map([...this.#columns.values()].map(({ name, field }) => [name.slice(1, -1), field]));
    return rows.flatMap(({ column, ...rest }) => {
      const field = fields.get(column.replaceAll('"', ''));
      return field === undefined ? [] : [{ field, ...rest }];
    });
  }
}
