import { type Database, inTransaction, type Queryable } from '@longshore/resources';

const tables = ['store', 'customer', 'customer_group', 'order', 'car', 'ticket'];

/**
 * Fills the shop with `orders` example orders and matching customers, stores and other rows. Does nothing if the shop
 * already has a store. A lock makes concurrent calls wait for each other.
 *
 * @param replace whether to delete all rows first
 */
export async function seedTables(
  database: Database,
  orders: number,
  { replace = false }: { readonly replace?: boolean } = {},
): Promise<void> {
  await inTransaction(database, async (transaction) => {
    await transaction.query('lock table shop.store in exclusive mode');
    if (replace) {
      const names = tables.map((table) => `shop.${table}`).join(', ');
      await transaction.query(`truncate ${names} restart identity cascade`);
    }
    const { rows } = await transaction.query('select from shop.store limit 1');
    if (rows.length === 0) await seed(transaction, orders);
  });
}

/**
 * Fills the empty shop with example rows. The same number of orders always produces the same rows.
 *
 * @param orders the number of orders, 300 by default; the number of customers grows with it
 */
export async function seed(database: Queryable, orders = 300): Promise<void> {
  const counts = {
    orders,
    customers: Math.max(20, Math.ceil(orders / 10)),
    stores: 8,
    cars: 12,
    tickets: 30,
  };
  for (const statement of statements(counts)) await database.query(statement);
  await database.query('analyze');
}

interface Counts {
  readonly orders: number;
  readonly customers: number;
  readonly stores: number;
  readonly cars: number;
  readonly tickets: number;
}

const cities = ['Berlin', 'Hamburg', 'Köln', 'München', 'Leipzig', 'Bremen', 'Dresden', 'Kiel'];
const firstNames = [
  'Ada',
  'Alan',
  'Barbara',
  'Donald',
  'Edsger',
  'Frances',
  'Grace',
  'Ken',
  'Leslie',
  'Margaret',
  'Radia',
];
const lastNames = [
  'Allen',
  'Dijkstra',
  'Hamilton',
  'Hopper',
  'Knuth',
  'Lamport',
  'Liskov',
  'Lovelace',
  'Perlman',
  'Thompson',
  'Turing',
  'Wirth',
];
const products = [
  'Anchor',
  'Barrel',
  'Compass',
  'Crane hook',
  'Lantern',
  'Oilskin',
  'Pulley',
  'Rope',
  'Sextant',
  'Tarpaulin',
];
const colours = ['blue', 'green', 'red', 'white'];
const subjects = [
  'Where is my parcel?',
  'Wrong item',
  'Invoice needed',
  'Broken lantern',
  'Change of address',
];
// Order states. Common states are repeated, so that more orders have them.
const states = [
  'open',
  'paid',
  'paid',
  'shipped',
  'shipped',
  'shipped',
  'shipped',
  'cancelled',
  'returned',
  'refunded',
];

// SQL expressions for a line item: `n` is the number of the order, and `line` is the number of the item within the
// order.
const quantity = '(1 + (n + line) % 4)';
const price = '(5 + (n * line) % 90 + 0.9)';

/**
 * Returns the statements that insert the rows. Each id is derived from the row's number, so ids are the same in every
 * database.
 */
function statements({ orders, customers, stores, cars, tickets }: Counts): readonly string[] {
  return [
    `insert into shop.store (id, name, city, created_at)
     select lower(translate(city, 'öü', 'ou')) || '-' || n, city || ' store', city, ${day('n')}
     from (select n, ${pick(cities, 'n')} as city from generate_series(1, ${stores}) n) s`,
    `insert into shop.customer (id, name, email, status, created_at)
     select ${uuid('customer', 'n')}, ${pick(firstNames, 'n')} || ' ' || ${pick(lastNames, 'n / 11')},
            'customer' || n || '@example.com', case when n % 29 = 0 then 'blocked' else 'active' end, ${day('n')}
     from generate_series(1, ${customers}) n`,
    `insert into shop.customer_group (id, name, description)
     select ${uuid('group', 'n')}, ${pick(['Regulars', 'Trade', 'Staff'], 'n')}, ${pick(['Buy often', 'Buy much', 'Buy cheaply'], 'n')}
     from generate_series(1, 3) n`,
    `insert into shop.group_membership
     select ${uuid('group', '1 + n % 3')}, ${uuid('customer', 'n')} from generate_series(1, ${customers}, 2) n`,
    `insert into shop.order (id, customer_id, store_id, status, total, address, note, created_at)
     select ${uuid('order', 'n')}, ${uuid('customer', `1 + n % ${customers}`)}, s.id, ${pick(states, 'n')},
            (select sum(${quantity} * ${price}) from generate_series(1, 1 + n % 3) line),
            'Quay ' || 1 + n % 200 || ', ' || s.city, case when n % 5 = 0 then 'Ring the bell twice' end, ${day('n % 365')}
     from generate_series(1, ${orders}) n
     join (select id, city, row_number() over (order by id) as place from shop.store) s on s.place = 1 + n % ${stores}`,
    // Disables the triggers that compute order totals. The totals are already set, and the triggers are slow.
    'alter table shop.line_item disable trigger user',
    `insert into shop.line_item (id, order_id, product, quantity, price)
     select ${uuid('line', "n || '-' || line")}, ${uuid('order', 'n')}, ${pick(products, 'n + line')}, ${quantity}, ${price}
     from generate_series(1, ${orders}) n, generate_series(1, 1 + n % 3) line`,
    'alter table shop.line_item enable trigger user',
    `insert into shop.car (id, name, plate, colour, status)
     select ${uuid('car', 'n')}, 'Van ' || n, 'B LS ' || 1000 + n, ${pick(colours, 'n')}, ${pick(['available', 'on-tour', 'in-repair'], 'n')}
     from generate_series(1, ${cars}) n`,
    `insert into shop.driver (id, car_id, name)
     select ${uuid('driver', 'n')}, ${uuid('car', `1 + n % ${cars}`)}, ${pick(firstNames, 'n * 3')} || ' ' || ${pick(lastNames, 'n')}
     from generate_series(1, ${cars * 2}) n`,
    `insert into shop.ticket (id, customer_id, subject, status, created_at)
     select ${uuid('ticket', 'n')}, ${uuid('customer', 'n % 20 + 1')}, ${pick(subjects, 'n')}, ${pick(['open', 'closed'], 'n')}, ${day('n')}
     from generate_series(1, ${tickets}) n`,
  ];
}

function pick(values: readonly string[], index: string): string {
  const list = values.map((value) => `'${value.replaceAll("'", "''")}'`).join(', ');
  return `(array[${list}])[1 + (${index}) % ${values.length}]`;
}

function uuid(kind: string, number: string): string {
  return `md5('${kind}' || ${number})::uuid`;
}

function day(number: string): string {
  return `timestamptz '2026-01-01' + (${number}) * interval '1 day'`;
}
