import { mapInSlices } from '@longshore/edge';
import type { Queryable } from '../database/database.js';
import type { Resource } from '../definition/resource.js';
import type { ItemRecord } from '../validation/json-schema.js';
import { columnOf, type Columns, quotedTable } from './columns.js';
import { allOf, Parameters } from './conditions.js';

/**
 * Inserts and updates rows. Sends all values of a statement as one JSON document. Postgres converts the document to
 * rows, so the SQL is the same for any number of rows.
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
   * Inserts rows and returns their keys, in the order of the bodies. Rows with the same fields share a statement,
   * because columns that a statement omits get their default.
   */
  async insert(
    transaction: Queryable,
    bodies: readonly ItemRecord[],
    parentFields: ItemRecord,
  ): Promise<readonly string[]> {
    const rows = bodies.map((body) => ({ ...body, ...parentFields }));
    const groups = new Map<string, { fields: readonly string[]; rows: ItemRecord[]; positions: number[] }>();
    for (const [position, row] of rows.entries()) {
      const fields = this.#resource.fields.filter((field) => row[field] !== undefined);
      const group = groups.get(fields.join()) ?? { fields, rows: [], positions: [] };
      groups.set(fields.join(), group);
      group.rows.push(row);
      group.positions.push(position);
    }
    const keys: string[] = [];
    for (const { fields, rows: alike, positions } of groups.values()) {
      const inserted = await this.#insertAlike(transaction, alike, fields);
      for (const [index, position] of positions.entries()) keys[position] = inserted[index] ?? '';
    }
    return keys;
  }

  /** Inserts rows with the same fields and returns their keys. */
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

  /**
   * Updates the given fields of all items. A field that an item lacks becomes null.
   *
   * @param parent returns conditions on the current parent. Needed because two parents can have items with the same key
   */
  async update(
    transaction: Queryable,
    items: readonly ItemRecord[],
    fields: readonly string[],
    parent: (parameters: Parameters) => readonly string[],
  ): Promise<void> {
    if (items.length === 0 || fields.length === 0) return;
    const key = columnOf(this.#columns, this.#resource.key).name;
    const assignments = fields
      .map((field) => columnOf(this.#columns, field).name)
      .map((name) => `${name} = v.${name}`);
    const parameters = new Parameters();
    const rows = `jsonb_populate_recordset(null::${this.#table}, ${parameters.add(await this.#toJson(items))}::jsonb)`;
    await transaction.query(
      `update ${this.#table} t set ${assignments.join(', ')}
       from ${rows} v where ${allOf([`t.${key} = v.${key}`, ...parent(parameters)])}`,
      parameters.values,
    );
  }

  /** Returns the items as a JSON array, with column names instead of field names. */
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
