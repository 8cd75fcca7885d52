/** A bare Node.js HTTP server that only reads JSON and responds: an upper bound for the throughput of a Node.js API. */
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end();
    return;
  }
  void json(request).then((body) => {
    response.writeHead(201, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
});
server.listen(Number(process.env['PORT']), '127.0.0.1');
process.once('SIGTERM', () => process.exit());
