import type { Queryable } from '../database/database.js';
import type { Resource } from '../definition/resource.js';
import type { ItemRecord } from '../validation/json-schema.js';
import { mapInSlices } from '../validation/large-body.js';
import { columnOf, type Columns, quotedTable } from './columns.js';

/**
 * Inserts and updates rows. Each statement gets all values as one JSON document. Postgres converts the document to rows
 * of the table, so the statements are the same for any number of rows and support every type.
 */
export class TableWriter {
  readonly #resource: Resource;
  readonly #columns: Columns;
  readonly #table: string;

  constructor(resource: Resource, table: string, columns: Columns) {
    this.#resource = resource;
    this.#columns = columns;
    this.#table = quotedTable(table);
  }

  /**
   * Inserts rows and returns their keys, in the order of the bodies. A column gets its default if none of the rows has
   * a value for it; if only some rows have a value, the others get null.
   */
  async insert(
    transaction: Queryable,
    bodies: readonly ItemRecord[],
    parentFields: ItemRecord,
  ): Promise<readonly string[]> {
    const rows = bodies.map((body) => ({ ...body, ...parentFields }));
    const fields = this.#resource.fields.filter((field) => rows.some((row) => row[field] !== undefined));
    const names = fields.map((field) => columnOf(this.#columns, field).name).join(', ');
    const key = columnOf(this.#columns, this.#resource.key).name;
    const { rows: inserted } = await transaction.query(
      fields.length === 0
        ? `insert into ${this.#table} default values returning ${key}::text as key`
        : `insert into ${this.#table} (${names})
           select ${names} from jsonb_populate_recordset(null::${this.#table}, $1::jsonb)
           returning ${key}::text as key`,
      fields.length === 0 ? [] : [await this.#toJson(rows)],
    );
    return inserted.map((row) => String(row['key']));
  }

  /** Updates the given fields of all items. If an item lacks one of these fields, the field becomes null. */
  async update(
    transaction: Queryable,
    items: readonly ItemRecord[],
    fields: readonly string[],
  ): Promise<void> {
    if (items.length === 0 || fields.length === 0) return;
    const key = columnOf(this.#columns, this.#resource.key).name;
    const assignments = fields
      .map((field) => columnOf(this.#columns, field).name)
      .map((name) => `${name} = v.${name}`);
    await transaction.query(
      `update ${this.#table} t set ${assignments.join(', ')}
       from jsonb_populate_recordset(null::${this.#table}, $1::jsonb) v where t.${key} = v.${key}`,
      [await this.#toJson(items)],
    );
  }

  /** Returns the items as a JSON array of rows. */
  async #toJson(items: readonly ItemRecord[]): Promise<string> {
    const rows = await mapInSlices(items, (item) =>
      JSON.stringify(
        Object.fromEntries(
          Object.entries(item).map(([field, value]) => [
            columnOf(this.#columns, field).name.slice(1, -1),
            value,
          ]),
        ),
      ),
    );
    return `[${rows.join(',')}]`;
  }
}
