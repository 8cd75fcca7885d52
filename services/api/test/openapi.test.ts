import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { MemoryStorage } from '@longshore/jobs';
import {
  compileClient,
  kindsOf,
  type OpenApiDocument,
  operationsOf,
  resolve,
  type Schema,
} from '@longshore/test-support';
import { expect } from 'chai';
import createClient from 'openapi-fetch';
import { adminKey } from './support/running-api.js';
import { serveResources } from './support/served-resources.js';

/** The source code of a client as users would write it, for jobs and for resources of the example shop. */
const source = `
  import type { Client } from 'openapi-fetch';
  import type { paths } from './schema.js';
  // A list may be of items with only the fields that were asked for.
  type Listed = { state: string | undefined; names: (string | undefined)[] };
  export async function enqueueAndList(api: Client<paths>): Promise<Listed> {
    const made = await api.POST('/jobs', { body: { name: 'test', args: { waitMs: 1 } } });
    const listed = await api.GET('/jobs', { params: { query: { state: ['enqueued'], limit: 5 } } });
    if (false as boolean) {
      const orders = await api.GET('/orders', { params: { query: { sort: ['-total'], minTotal: 3 } } });
      const total: number | undefined = orders.data?.[0]?.total;
      await api.PUT('/orders/{orderId}/refund', { params: { path: { orderId: String(total) } } });
    }
    if (made.data === undefined || Array.isArray(made.data)) throw new Error(JSON.stringify(made.error));
    return { state: made.data.state, names: (listed.data ?? []).map(({ name }) => name) };
  }`;

describe('The OpenAPI document of the api', () => {
  const storage = new MemoryStorage();
  let server: { url: string; close: () => Promise<void> };
  let text: string;

  before(async () => {
    server = await serveResources(storage, {
      API_BASE_URL: 'https://api.longshore.dev',
      API_AUTH: 'keys,jwt',
      API_JWT_ISSUER: 'https://issuer.longshore.dev',
      API_JWT_AUDIENCE: 'longshore',
      API_JWT_JWKS_URL: 'https://issuer.longshore.dev/keys',
    });
    text = await (await fetch(`${server.url}/api/v1/openapi.json`)).text();
  });
  after(async () => {
    await server.close();
    await storage.close();
  });

  it('contains the resources of the jobs and of the application', () => {
    const { paths } = JSON.parse(text) as { paths: object };
    expect(paths).to.include.keys(
      '/jobs',
      '/queues',
      '/servers',
      '/orders',
      '/customers',
      '/orders/{orderId}/refund',
    );
  });

  it('is valid OpenAPI 3.1', async () => {
    const { errors } = await new Validator().validate(JSON.parse(text) as Record<string, unknown>);
    expect(errors).to.equal(undefined);
  });

  it('passes Redocly’s strict rules', async () => {
    // Off, because Redocly considers `/orders/search/{keyword}` and `/orders/{orderId}/cancel` ambiguous. They are not,
    // because no item can have the id `search`.
    const rules = { 'no-ambiguous-paths': 'off' as const };
    const config = await createConfig({ extends: ['recommended-strict'], rules });
    const problems = await lintFromString({ source: text, config });
    const found = problems.map(
      ({ ruleId, message, location }) => `${ruleId} ${message} ${location[0]?.pointer}`,
    );
    expect(found).to.deep.equal([]);
  });

  it('needs at most 100 kB of JSON to reach or to break any limit of a request', () => {
    const document = JSON.parse(text) as OpenApiDocument;
    const bodies = operationsOf(document).flatMap(({ bodies }) => Object.values(bodies));
    const limits = new Limits(document);
    for (const { schema } of bodies) limits.visit(schema, 'body');
    expect(limits.bytes.size).to.be.above(50);
    expect([...limits.bytes].filter(([, bytes]) => bytes > 100_000)).to.deep.equal([]);
  });

  it('describes fields in sentences, not by their names', () => {
    const { components } = JSON.parse(text) as { components: { schemas: object } };
    const poor = JSON.stringify(components).match(
      /"The (?:[\w -]* (?:at|ms|done|failed|cancelled) of the|(?:at|enqueued|on conflict|states|percent|limit|parents) of the|(\w+) of the \1\b)[^"]*"/g,
    );
    expect(poor ?? []).to.deep.equal([]);
  });

  it('lets whatever the body of a request sets be read, under the same name', () => {
    const document = JSON.parse(text) as OpenApiDocument;
    // A batch's jobs and its callback are jobs: GET /batches/{id}/jobs and the job with the id in `callbackId`.
    const elsewhere = new Set(['BatchCreate.jobs', 'BatchCreate.callback']);
    const { schemas } = document.components;
    const bodies = Object.keys(schemas).filter((name) => /[a-z](Create|Replace|Patch)$/.test(name));
    const unread = bodies.flatMap((name) => {
      const item = schemas[name.replace(/(Create|Replace|Patch)$/, '')];
      const fields = Object.keys(schemas[name]?.properties ?? {});
      return fields
        .filter((field) => item?.properties?.[field] === undefined)
        .map((field) => `${name}.${field}`);
    });
    expect(bodies).to.include.members([
      'JobCreate',
      'BatchCreate',
      'RecurringJobCreate',
      'ApiKeyCreate',
      'OrderCreate',
    ]);
    expect(unread.filter((field) => !elsewhere.has(field))).to.deep.equal([]);
  });

  it('does not say that everybody who reaches an operation may call it', () => {
    // Only true of an API without credentials, and its introduction already says so.
    expect(text).not.to.match(/(every|any)(one|body) (who|that) can (reach|call|connect)/i);
  });

  it('lists for every collection which of its fields q searches', () => {
    const document = JSON.parse(text) as OpenApiDocument;
    const searched = operationsOf(document).flatMap(({ method, template, parameters, responses }) => {
      const q = parameters.find(({ name }) => name === 'q');
      if (q === undefined) return [];
      const [, names = ''] =
        /each must occur in one of ([\w, .]+)\. Best match first/.exec(q.description ?? '') ?? [];
      const schema = responses['200']?.content?.['application/json']?.schema ?? {};
      return [{ place: `${method} ${template}`, names: names.split(', '), schema: JSON.stringify(schema) }];
    });
    expect(searched.map(({ place }) => place)).to.include.members([
      'GET /queues',
      'GET /batches',
      'GET /orders',
    ]);
    expect(searched.filter(({ names }) => names.includes(''))).to.deep.equal([]);
    expect(searched.find(({ place }) => place === 'GET /queues')?.names).to.deep.equal([
      'name',
      'pausedBy',
      'pauseReason',
    ]);
  });

  it('declares 200 for a POST only beside 201, for an item that existed', () => {
    const created = operationsOf(JSON.parse(text) as OpenApiDocument).filter(
      ({ method }) => method === 'POST',
    );
    const wrong = created.filter(
      ({ responses }) =>
        responses['201'] === undefined ||
        responses['200']?.description?.startsWith('The existing ') === false,
    );
    expect(created).to.have.length.above(5);
    expect(wrong.map(({ template }) => template)).to.deep.equal([]);
  });

  it('publishes the length of names', () => {
    const { components } = JSON.parse(text) as OpenApiDocument;
    const { name, queue, tags } = components.schemas['JobCreate']?.properties ?? {};
    expect([name?.maxLength, queue?.maxLength, tags?.items?.maxLength]).to.deep.equal([100, 100, 100]);
  });

  it('compiles to a client that works', async () => {
    const compiled = await compileClient(JSON.parse(text) as object, source);
    expect(compiled.problems).to.deep.equal([]);
    const { enqueueAndList } = await compiled.load();
    const result = await enqueueAndList?.(
      createClient({ baseUrl: `${server.url}/api/v1`, headers: { authorization: `Bearer ${adminKey}` } }),
    );
    expect(result).to.deep.equal({ state: 'enqueued', names: ['test'] });
  });
});

/**
 * Collects, for each limit in a schema, the approximate size of the shortest JSON that exceeds the limit by one. Tools
 * that generate test requests must be able to produce that many bytes.
 */
class Limits {
  /** Number of bytes, keyed by the limit's place in the body, such as `body.jobs[].name`. */
  readonly bytes = new Map<string, number>();
  readonly #document: OpenApiDocument;
  readonly #visited = new Set<Schema>();

  constructor(document: OpenApiDocument) {
    this.#document = document;
  }

  visit(given: Schema, place: string): void {
    const schema = resolve(this.#document, given);
    if (this.#visited.has(schema)) return;
    this.#visited.add(schema);
    const { maxLength, maxItems, items = {}, properties = {}, anyOf = [], oneOf = [] } = schema;
    if (maxLength !== undefined) this.bytes.set(place, maxLength + 3);
    if (maxItems !== undefined) this.bytes.set(place, (maxItems + 1) * (this.#shortest(items) + 1) + 2);
    for (const one of [...anyOf, ...oneOf]) this.visit(one, place);
    if (schema.items !== undefined) this.visit(items, `${place}[]`);
    for (const [name, property] of Object.entries(properties)) this.visit(property, `${place}.${name}`);
  }

  /** Returns the approximate length of the shortest JSON value that matches a schema. */
  #shortest(given: Schema): number {
    const schema = resolve(this.#document, given);
    const { anyOf, oneOf, properties = {}, required = [], minLength = 0, minItems = 0, items = {} } = schema;
    const choices = anyOf ?? oneOf;
    if (choices !== undefined) return Math.min(...choices.map((one) => this.#shortest(one)));
    if (schema.enum !== undefined)
      return Math.min(...schema.enum.map((value) => JSON.stringify(value).length));
    switch (kindsOf(schema)[0]) {
      case 'object':
        return required.reduce(
          (sum, name) => sum + name.length + 4 + this.#shortest(properties[name] ?? {}),
          2,
        );
      case 'array':
        return 2 + minItems * this.#shortest(items);
      case 'string':
        return 2 + minLength;
      default:
        return 1;
    }
  }
}
