import { readFile } from 'node:fs/promises';
import { application } from '@longshore/example-shop';
import { type Resource, tableIndexes } from '@longshore/resources';
import { during } from '@longshore/test-support';
import { expect } from 'chai';
import { type Answer, openShop, type Shop } from './support/shop.js';

interface Order {
  readonly id: string;
  readonly number: string;
  readonly status: string;
  readonly total: number;
}

/** Returns the id of the job in the `Location` header, or `no job`. */
function jobIn(headers: Headers): string {
  return /\/api\/v1\/jobs\/([0-9a-f-]{36})$/.exec(headers.get('location') ?? '')?.[1] ?? 'no job';
}

for (const kind of ['postgres', 'memory'] as const)
  describe(`The example shop, in ${kind}`, () => {
    let shop: Shop;
    before(async () => (shop = await openShop(kind)));
    after(() => shop.close());

    const get = (path: string): Promise<Answer> => shop.call('GET', path);
    const first = async <Item>(path: string): Promise<Item> => ((await get(path)).body as [Item])[0];
    const put = (path: string, json?: unknown): Promise<Answer> => shop.call('PUT', path, json);

    /**
     * Returns the path of the first non-empty `child` collection below the items at `path`.
     *
     * @throws {Error} if all of these collections are empty
     */
    const filled = async (path: string, child: string, key = 'id'): Promise<string> => {
      const parents = (await get(path)).body as Readonly<Record<string, unknown>>[];
      for (const parent of parents) {
        const below = `${path}/${String(parent[key])}/${child}`;
        if (((await get(below)).body as unknown[]).length > 0) return below;
      }
      throw new Error(`${path}/{id}/${child} is empty for each of ${parents.length} items`);
    };

    /** Returns every collection with its path. For a child collection, uses the first parent that has items in it. */
    const collections = async (): Promise<{ path: string; resource: Resource }[]> => {
      const below = async (
        path: string,
        resource: Resource,
      ): Promise<{ path: string; resource: Resource }[]> => {
        const children = [...resource.children.values()].map(async ({ resource: child }) =>
          below(await filled(path, child.name, resource.key), child),
        );
        return [{ path, resource }, ...(await Promise.all(children)).flat()];
      };
      const roots = application.tables?.resources ?? [];
      return (await Promise.all(roots.map((root) => below(`/${root.name}`, root)))).flat();
    };

    /** Creates an order with one line item, for a total of 20. */
    const newOrder = async (): Promise<Order> => {
      const customer = await first<{ id: string }>('/customers');
      const store = await first<{ id: string }>('/stores');
      const { body } = await shop.call('POST', `/customers/${customer.id}/orders`, {
        storeId: store.id,
        address: 'Quay 1',
      });
      const { id } = body as Order;
      await shop.call('POST', `/orders/${id}/lineitems`, { product: 'Rope', quantity: 2, price: 10 });
      return (await get(`/orders/${id}`)).body as Order;
    };

    describe('every path of the domain answers', () => {
      const paths: Readonly<Record<string, () => Promise<string>>> = {
        '/stores': async () => '/stores',
        '/stores/{store}/customers?minCost=': async () => filled('/stores', 'customers?minCost=1'),
        '/customers': async () => '/customers?name=ada&status=active',
        '/customers/{id}/orders': async () => filled('/customers', 'orders'),
        '/groups': async () => '/groups',
        '/groups/{id}/customers': async () => filled('/groups', 'customers'),
        '/orders': async () => '/orders?status=paid&minTotal=1&sort=-total',
        '/orders/{id}/lineitems': async () => filled('/orders', 'lineitems'),
        '/orders/search/{keyword}': async () => '/orders/search/Hambrug',
        '/cars': async () => '/cars?colour=red&colour=blue&name=van',
        '/cars/{id}/drivers': async () => filled('/cars', 'drivers?status=active'),
        '/tickets': async () => '/tickets?q=parcel',
      };
      for (const [name, path] of Object.entries(paths)) {
        it(name, async () => {
          const { status, body } = await get(await path());
          expect(status).to.equal(200);
          expect(body).to.have.length.above(0);
        });
      }

      it('/customers/{id}/orders/{id}/lineitems/{id}', async () => {
        const order = await first<{ id: string; customerId: string }>('/orders');
        const path = `/customers/${order.customerId}/orders/${order.id}/lineitems`;
        const { id } = await first<{ id: string }>(path);
        expect((await get(`${path}/${id}`)).body).to.include({ id, orderId: order.id });
      });

      it('every collection is searched and sorted by each of its single values', async () => {
        for (const { path, resource } of await collections()) {
          for (const query of ['q=berlni', ...resource.sort.map((field) => `sort=-${field}`)])
            expect((await get(`${path}?${query}`)).status, `${path}?${query}`).to.equal(200);
          // A store may have the id `search`.
          const found = resource.name === 'stores' ? 404 : 200;
          expect((await get(`${path}/search/berlni`)).status, path).to.equal(found);
        }
      });

      it('a typo is forgiven in every text field', async () => {
        for (const path of [
          '/cars?q=avialable',
          '/stores?q=Hambrug',
          '/groups?q=Regualrs',
          '/customers?q=custmer7@example',
          '/tickets?q=lantren',
          '/orders?q=shiped',
        ])
          expect((await get(path)).body, path).to.have.length.above(0);
      });

      it('every collection has every method, or a reason why not', async () => {
        const calls = { POST: 'create', PUT: 'replaceMany', DELETE: 'deleteMany' } as const;
        for (const { path, resource } of await collections()) {
          for (const [method, name] of Object.entries(calls)) {
            const { allow } = Object.fromEntries((await shop.call('OPTIONS', path)).headers);
            if (allow?.includes(method) === true) continue;
            const reason = resource.notAllowed.get(name) ?? 'none';
            const { status, body } = await shop.call(method, path, []);
            expect([status, JSON.stringify(body)], `${method} ${path}`).to.satisfy(
              ([code, text]: [number, string]) => code === 405 && text.includes(reason.slice(0, -1)),
            );
          }
        }
      });

      it('an unknown store is 404', async () =>
        expect((await get('/stores/atlantis/customers')).status).to.equal(404));
    });

    it('a customer joins and leaves a group, and stays a customer and a member of other groups', async () => {
      const [one, other] = (await get('/groups?limit=2')).body as { id: string }[];
      const { body } = await shop.call('POST', '/customers', { name: 'Ida', email: 'ida@example.com' });
      const { id } = body as { id: string };
      for (const group of [one, other]) {
        const joined = await shop.call('POST', `/groups/${group?.id}/customers`, { id });
        expect([joined.status, joined.body]).to.deep.equal([
          201,
          { id, groupId: group?.id, name: 'Ida', email: 'ida@example.com', status: 'active' },
        ]);
      }
      const path = `/groups/${one?.id}/customers`;
      expect((await shop.call('POST', path, { id })).status).to.equal(409);
      expect((await shop.call('POST', path, { id: one?.id })).status).to.equal(422);
      expect((await shop.call('DELETE', `${path}/${id}`)).status).to.equal(204);
      const statuses = [`${path}/${id}`, `/groups/${other?.id}/customers/${id}`, `/customers/${id}`].map(
        async (at) => (await get(at)).status,
      );
      expect(await Promise.all(statuses)).to.deep.equal([404, 200, 200]);
    });

    it('the cost of a customer is the amount spent in the store', async () => {
      const store = await first<{ id: string }>('/stores');
      const customer = await first<{ id: string; cost: number }>(`/stores/${store.id}/customers?sort=-cost`);
      const spent = await shop.query(
        `select sum(total)::float8 as cost from shop.order
       where store_id = $1 and customer_id = $2 and status in ('paid', 'shipped', 'cancellation-requested')`,
        [store.id, customer.id],
      );
      expect(spent).to.deep.equal([{ cost: customer.cost }]);
    });

    describe('orders', () => {
      it('have the total of their line items', async () => expect((await newOrder()).total).to.equal(20));

      it('an open one is cancelled', async () => {
        const { id } = await newOrder();
        expect((await put(`/orders/${id}/cancel`)).body).to.include({ status: 'cancelled' });
      });

      it('a paid one gets a cancellation request, and no second one', async () => {
        const { id } = await newOrder();
        await put(`/orders/${id}/pay`);
        const answers = [
          await put(`/orders/${id}/cancel`, { reason: 'late' }),
          await put(`/orders/${id}/cancel`),
        ];
        expect(answers.map(({ body }) => (body as Order).status)).to.deep.equal([
          'cancellation-requested',
          'cancellation-requested',
        ]);
        expect((await get(`/cancellations?orderId=${id}`)).body)
          .to.have.lengthOf(1)
          .and.have.nested.property('[0].reason', 'late');
      });

      it('a payment sends a receipt', async () => {
        const order = await newOrder();
        const { status, headers } = await put(`/orders/${order.id}/pay`);
        const { file } = (await shop.resultOf(jobIn(headers))) as { file: string };
        expect(status).to.equal(202);
        expect(await readFile(file, 'utf8'))
          .to.contain(`Receipt ${order.number}`)
          .and.contain('2 × Rope');
      });

      it('a returned one is refunded once, even by several jobs', async () => {
        const { id } = await newOrder();
        for (const verb of ['pay', 'ship', 'return']) await put(`/orders/${id}/${verb}`);
        const refund = await put(`/orders/${id}/refund`);
        await shop.resultOf(jobIn(refund.headers));
        await shop.resultOf(await shop.enqueue('refund-order', { orderId: id }));
        const ledger = 'select amount::float8 from shop.ledger_entry where order_id = $1';
        expect(await shop.query(ledger, [id])).to.deep.equal([{ amount: -20 }]);
        expect((await get(`/orders/${id}`)).body).to.include({ status: 'refunded' });
      });

      it('a paid one is shipped when its parcel is ready', async () => {
        const { id } = await newOrder();
        await put(`/orders/${id}/pay`);
        const { headers } = await put(`/orders/${id}/fulfil`);
        await shop.signal(id, 'parcel', { tracking: 'SL-1' });
        expect(await shop.resultOf(jobIn(headers))).to.deep.equal({ shipped: 'SL-1' });
        expect((await get(`/orders/${id}`)).body).to.include({ status: 'shipped' });
      });

      it('a paid one is refunded if its parcel is lost, after an approval if it is dear', async () => {
        const { id } = await newOrder();
        await shop.call('POST', `/orders/${id}/lineitems`, { product: 'Anchor', quantity: 1, price: 500 });
        await put(`/orders/${id}/pay`);
        const { headers } = await put(`/orders/${id}/fulfil`);
        await shop.signal(id, 'parcel', { lost: true });
        await shop.signal(id, 'approval', { approved: true });
        expect(await shop.resultOf(jobIn(headers))).to.deep.equal({ refunded: true });
        expect((await get(`/orders/${id}`)).body).to.include({ status: 'refunded' });
      });

      it('have at most the total that their field allows', async () => {
        const { id } = await newOrder();
        const dear = { product: 'Ship', quantity: 10_000, price: 99_999_999.99 };
        const { status, body } = await shop.call('POST', `/orders/${id}/lineitems`, dear);
        expect(status).to.equal(422);
        expect(JSON.stringify(body)).to.contain('The total of an order is at most 9999999999.99');
        expect((await get(`/orders/${id}`)).body).to.include({ total: 20 });
      });

      it('an open one cannot be returned', async () => {
        const { id } = await newOrder();
        expect((await put(`/orders/${id}/return`)).status).to.equal(409);
      });
    });

    describe('cancellations', () => {
      const requested = async (): Promise<{ order: Order; id: string }> => {
        const order = await newOrder();
        await put(`/orders/${order.id}/pay`);
        await put(`/orders/${order.id}/cancel`);
        return { order, id: (await first<{ id: string }>(`/cancellations?orderId=${order.id}`)).id };
      };

      it('an approved one cancels the order and refunds it', async () => {
        const { order, id } = await requested();
        const { status, headers, body } = await put(`/cancellations/${id}/approve`);
        expect(status).to.equal(202);
        expect(body).to.include({ status: 'approved' });
        expect(await shop.resultOf(jobIn(headers))).to.include({ amount: -20 });
        expect((await get(`/orders/${order.id}`)).body).to.include({ status: 'refunded' });
      });

      it('an approval that fails after enqueuing leaves no job and changes nothing', async () => {
        const { order, id } = await requested();
        const before = await shop.countJobs('refund-order');
        await shop.query(
          "alter table shop.cancellation add constraint never check (status <> 'approved') not valid",
        );
        const { status } = await put(`/cancellations/${id}/approve`);
        await shop.query('alter table shop.cancellation drop constraint never');
        expect(status).to.equal(422);
        expect(await shop.countJobs('refund-order')).to.equal(before);
        expect((await get(`/cancellations/${id}`)).body).to.include({ status: 'requested' });
        expect((await get(`/orders/${order.id}`)).body).to.include({ status: 'cancellation-requested' });
      });

      it('a rejected one keeps the order', async () => {
        const { order, id } = await requested();
        await put(`/cancellations/${id}/reject`);
        expect((await get(`/orders/${order.id}`)).body).to.include({ status: 'paid' });
        expect((await put(`/cancellations/${id}/approve`)).status).to.equal(409);
      });
    });

    it('customers with orders are not deleted, neither one nor many', async () => {
      const { customerId } = await first<{ customerId: string }>('/orders');
      const count = (): Promise<readonly object[]> => shop.query('select count(*) from shop.customer');
      const before = await count();
      const answers = [
        await shop.call('DELETE', `/customers/${customerId}`),
        await shop.call('DELETE', '/customers'),
      ];
      expect(answers.map(({ status }) => status)).to.deep.equal([409, 409]);
      expect(await count()).to.deep.equal(before);
    });

    it('a member without a value is null, and may be left out of a body', async () => {
      const { body } = await shop.call('POST', '/groups', { name: 'New' });
      const { id } = body as { id: string };
      const replaced = await put(`/groups/${id}`, { name: 'Renamed' });
      await shop.call('DELETE', `/groups/${id}`);
      expect(body).to.deep.equal({ id, name: 'New', description: null });
      expect(replaced.body).to.deep.equal({ id, name: 'Renamed', description: null });
    });

    it('tickets are closed and opened again', async () => {
      const { id } = await first<{ id: string }>('/tickets?status=open');
      expect((await put(`/tickets/${id}/close`)).body).to.include({ status: 'closed' });
      expect((await put(`/tickets/${id}/reopen`)).body).to.include({ status: 'open' });
    });

    it('the nightly report sums up a day by store', async () => {
      const { file } = (await shop.resultOf(await shop.enqueue('nightly-report', { day: '2026-01-02' }))) as {
        file: string;
      };
      const text = await readFile(file, 'utf8');
      expect(text).to.match(/^store,orders,total\n(?:[a-z-]+-\d,1,\d+\.\d\d\n)+$/);
    });

    it('the nightly report is enqueued by a schedule, for the day before', async () => {
      const { result, from, until } = await during(async () =>
        shop.resultOf(await shop.trigger('nightly-report')),
      );
      const daysBefore = [from, until].map((at) =>
        new Date(at.getTime() - 86_400_000).toISOString().slice(0, 10),
      );
      const [, day] = /report-(.*)\.csv$/.exec((result as { file: string }).file) ?? [];
      expect(day).to.be.oneOf(daysBefore);
    });

    if (kind === 'postgres') {
      it('the nightly report is for the day before by the database’s clock', async () => {
        const yesterday = async (): Promise<readonly object[]> =>
          shop.query(`select ((now() at time zone 'UTC')::date - 1)::text as day`);
        const daysBefore = await yesterday();
        const { now } = Date;
        Date.now = () => now() + 400 * 86_400_000;
        try {
          const { file } = (await shop.resultOf(await shop.enqueue('nightly-report', {}))) as {
            file: string;
          };
          expect([...daysBefore, ...(await yesterday())]).to.deep.include({ day: file.slice(-14, -4) });
        } finally {
          Date.now = now;
        }
      });
    }

    it('the indexes of the migration are those of the resources', async () => {
      const file = await readFile(new URL('../migrations/002_indexes.sql', import.meta.url), 'utf8');
      const statements = file
        .replaceAll(/^(?:--|set local).*\n/gm, '')
        .split(/;\s*/)
        .filter((statement) => statement !== '');
      expect(statements).to.deep.equal(tableIndexes(application.tables?.resources ?? []));
    });

    it('the document defines everything that it refers to', async () => {
      const { body } = await get('/openapi.json');
      const { components } = body as { components: Record<string, Record<string, unknown>> };
      const references = JSON.stringify(body).matchAll(/"#\/components\/(\w+)\/(\w+)"/g);
      for (const [, kind = '', name = ''] of references) expect(components[kind]).to.have.property(name);
    });

    it('the seeded totals are those of the line items', async () => {
      const wrong = await shop.query(
        `select o.id from shop.order o join shop.line_item l on l.order_id = o.id
       group by o.id having o.total <> sum(l.quantity * l.price)`,
      );
      expect(wrong).to.deep.equal([]);
    });

    it('the seed is the same in every database', async () => {
      const digest =
        "select md5(string_agg(o.id || o.status || o.total, ',' order by o.id)) from shop.order o where created_at < '2027-01-01' and number < 'ORD-00001300'";
      expect(await shop.query(digest)).to.deep.equal(await seededAgain());

      async function seededAgain(): Promise<readonly object[]> {
        const other = await openShop(kind);
        const rows = await other.query(digest);
        await other.close();
        return rows;
      }
    });
  });
