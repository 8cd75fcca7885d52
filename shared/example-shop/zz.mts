import { fileURLToPath } from 'node:url';
import pg from 'pg';
import Koa from 'koa';
import { runner } from 'node-pg-migrate';
import { createTestDatabase } from '@longshore/test-support';
import { createResourceApi } from '@longshore/resources';
import { migrations, resources, seed } from './src/index.ts';
import { stopTestPostgres } from '../test-support/src/test-postgres.js';
const db = await createTestDatabase();
await runner({
  databaseUrl: db.url,
  dir: fileURLToPath(migrations.directory),
  direction: 'up',
  schema: 'shop',
  createSchema: true,
  migrationsTable: 'migration',
  log: () => undefined,
});
const pool = new pg.Pool({ connectionString: db.url, max: 4 });
let t = Date.now();
await seed(pool, 1_000_000);
console.log('seed', Date.now() - t, 'ms');
const app = new Koa();
app.use(
  createResourceApi({
    resources,
    baseUrl: 'https://shop.longshore.dev',
    log: { incident: (i) => console.error(i) },
    platform: { database: pool, enqueue: async () => '' },
  }),
);
const s = app.listen(0);
const port = (s.address() as any).port;
const base = `http://127.0.0.1:${port}/api/v1`;
async function time(path: string, headers: Record<string, string> = {}) {
  const runs: number[] = [];
  let r!: Response;
  let n = 0;
  for (let i = 0; i < 5; i++) {
    const t = performance.now();
    r = await fetch(base + path, { headers });
    n = ((await r.json()) as any[]).length;
    runs.push(performance.now() - t);
  }
  runs.sort((a, b) => a - b);
  console.log(
    r.status,
    runs[2]!.toFixed(1).padStart(8),
    'ms',
    path,
    JSON.stringify(headers),
    'items',
    n,
    'total',
    r.headers.get('x-total-count'),
    r.headers.get('preference-applied'),
  );
  return r;
}
await time('/orders');
await time('/orders', { prefer: 'count=exact' });
await time('/orders', { prefer: 'count=none' });
await time('/orders?status=paid');
await time('/orders?status=open&minTotal=300&sort=-total');
await time('/orders?customerId=' + ((await (await fetch(base + '/customers')).json()) as any[])[0].id);
await time('/orders?createdAfter=2026-03-01&createdBefore=2026-03-02');
await time('/orders?sort=total&limit=100');
await time('/orders?sort=-number');
await time('/orders?sort=number&offset=500000');
let r = await time('/orders?sort=-total');
let next = /<https:\/\/shop\.longshore\.dev\/api\/v1([^>]*)>; rel="next"/.exec(r.headers.get('link')!)![1]!;
for (let i = 0; i < 20; i++) {
  const x = await fetch(base + next);
  await x.text();
  next = /<https:\/\/shop\.longshore\.dev\/api\/v1([^>]*)>; rel="next"/.exec(x.headers.get('link')!)![1]!;
}
await time(next);
await time('/customers?name=grace');
await time('/customers?q=Gracce');
await time('/customers?q=customer77777');
await time('/orders?q=ORD-00500000');
await time('/orders?q=Hambrug');
await time('/orders/search/Quay%20117');
const store = ((await (await fetch(base + '/stores')).json()) as any[])[0].id;
await time(`/stores/${store}/customers?minCost=1000`);
s.close();
await pool.end();
await db.drop();
await stopTestPostgres();
process.exit(0);
