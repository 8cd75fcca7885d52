import { operationsOf } from '@longshore/test-support';
import { expect } from 'chai';
import { ExampleRequests } from './support/example-requests.js';

/** What keeps a request from being carried out although it is well-formed: the state of the item, or what refers to it. */
const conflicts = [409, 412];

describe('The examples of the document', () => {
  let requests: ExampleRequests;

  before(async () => {
    requests = await ExampleRequests.start();
  });
  after(() => requests.end());

  const templatesOf = (method: string, form: RegExp): string[] =>
    operationsOf(requests.document)
      .filter((operation) => operation.method === method && form.test(operation.template))
      .filter(({ template }) => requests.hasItems(template))
      .map(({ template }) => template);

  it('of parameters work, all at once, on every list', async () => {
    const lists = templatesOf('GET', /^\/[\w-]+(\/\{\w+\}\/[\w-]+)?$/).filter(
      (path) => !path.endsWith('/events'),
    );
    expect(lists.length).to.be.above(12);
    for (const list of lists) {
      const path = `${requests.pathOf(list)}?${requests.queryOf('GET', list)}`;
      const answer = await requests.send('GET', path, undefined, requests.headersOf('GET', list));
      expect(answer.status, `${path} ${answer.text.slice(0, 500)}`).to.equal(200);
    }
  });

  it('of new items create items, singly and in an array', async () => {
    const creations = templatesOf('POST', /^\/[\w-]+$/);
    expect(creations.length).to.be.above(8);
    for (const template of creations) {
      for (const body of requests.bodiesOf('POST', template)) {
        const [{ id } = {}] = [body].flat() as Readonly<Record<string, unknown>>[];
        if (typeof id === 'string') await requests.send('DELETE', `${template}/${id}`);
        const json = requests.existing(body);
        const answer = await requests.send('POST', template, json);
        expect(answer.status, `POST ${template} ${JSON.stringify(json)} ${answer.text}`).to.be.oneOf([
          200, 201, 409,
        ]);
        if (typeof id === 'string' || answer.status === 409) continue;
        // Deletes what the example created, because the next example may use the same values in unique fields.
        for (const item of [answer.json()].flat() as { id: unknown }[])
          await requests.send('DELETE', `${template}/${String(item.id)}`);
      }
    }
  });

  it('of new items below a parent leave out what the path says, and create items', async () => {
    const creations = templatesOf('POST', /^\/[\w-]+\/\{\w+\}\/[\w-]+$/);
    expect(creations.length).to.be.above(3);
    for (const template of creations) {
      const [, parent = ''] = /\{(\w+)\}/.exec(template) ?? [];
      const [body] = requests.bodiesOf('POST', template);
      expect(body, template).not.to.have.property(parent);
      const path = requests.pathOf(template);
      // Below a group, a new customer is an existing one that joins it.
      const answer = await requests.send('POST', path, requests.existing(body, 'customerId'));
      expect(answer.status, `POST ${path} ${JSON.stringify(body)} ${answer.text}`).to.be.oneOf([
        200, 201, 409,
      ]);
    }
  });

  it('of changes change an item', async () => {
    const changes = ['PATCH', 'PUT'].flatMap((method) =>
      templatesOf(method, /^\/[\w-]+\/\{\w+\}$/).map((template) => ({ method, template })),
    );
    expect(changes.length).to.be.above(12);
    for (const { method, template } of changes) {
      const path = requests.pathOf(template);
      const headers = requests.headersOf(method, template);
      const [body] = requests.bodiesOf(method, template);
      const answer = await requests.send(method, path, requests.existing(body), headers);
      expect(answer.status, `${method} ${path} ${answer.text}`).to.equal(200);
    }
  });

  it('of operations are carried out, unless the state of the item does not allow it', async () => {
    const operations = templatesOf('PUT', /^\/[\w-]+\/\{\w+\}\/[\w-]+$/).filter(
      (template) => !requests.has('GET', template), // no collection below an item
    );
    expect(operations.length).to.be.above(12);
    for (const template of operations) {
      const path = requests.pathOf(template);
      const [body] = requests.bodiesOf('PUT', template);
      const answer = await requests.send('PUT', path, requests.existing(body));
      expect(answer.status, `PUT ${path} ${answer.text}`).to.be.oneOf([200, 202, ...conflicts]);
    }
  });
});
