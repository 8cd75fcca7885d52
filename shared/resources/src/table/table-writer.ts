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
   * Inserts rows and returns their keys, in the order of the bodies. Columns without a value get their default, so rows
   * with the same fields are inserted together: one statement gives a column either values or its default.
   */
  async insert(
    transaction: Queryable,
    bodies: readonly ItemRecord[],
    parentFields: ItemRecord,
  ): Promise<readonly string[]> {
    const rows = bodies.map((body) => ({ ...body, ...parentFields }));
    const groups = new Map<string, { fields: readonly string[]; rows: ItemRecord[]; places: number[] }>();
    for (const [place, row] of rows.entries()) {
      const fields = this.#resource.fields.filter((field) => row[field] !== undefined);
      const group = groups.get(fields.join()) ?? { fields, rows: [], places: [] };
      groups.set(fields.join(), group);
      group.rows.push(row);
      group.places.push(place);
    }
    const keys: string[] = [];
    for (const { fields, rows: alike, places } of groups.values()) {
      const inserted = await this.#insertAlike(transaction, alike, fields);
      for (const [index, place] of places.entries()) keys[place] = inserted[index] ?? '';
    }
    return keys;
  }

  /** Inserts rows that have values for the same fields. Returns their keys. */
  async #insertAlike(
    transaction: Queryable,
    rows: readonly ItemRecord[],
    fields: readonly string[],
  ): Promise<readonly string[]> {
    const names = fields.map((field) => columnOf(this.#columns, field).name).join(', ');
    const key = columnOf(this.#columns, this.#resource.key).name;
    const { rows: inserted } = await transaction.query(
      fields.length === 0
        ? `insert into ${this.#table} (${key}) values ${rows.map(() => '(default)').join(', ')} returning ${key}::text as key`
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
