/** What the framework of the api service can do at most: Koa, which reads JSON and answers, and does nothing else. */
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
