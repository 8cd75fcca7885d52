/**
 * A Koa application that only reads JSON and responds. Its throughput is an upper bound for the api service, which uses
 * Koa.
 */
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';

const app = new Koa();
app.use(bodyParser());
app.use((context) => {
  context.status = context.method === 'POST' ? 201 : 200;
  context.body = context.request.body ?? {};
});
app.listen(Number(process.env['PORT']), '127.0.0.1');
process.once('SIGTERM', () => process.exit());
