import {
  eventually,
  createTestDatabase,
  type OpenApiDocument,
  operationsOf,
  type TestDatabase,
} from '@longshore/test-support';
import { expect } from 'chai';
import { adminKey, type RunningApi, runApi } from './support/running-api.js';

interface Media {
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface Parameter extends Media {
  readonly name: string;
  readonly in: string;
  readonly explode?: boolean;
}

interface Example extends Pick<Parameter, 'name' | 'in' | 'explode'> {
  readonly example: unknown;
}

type Ids = Readonly<Record<string, string>>;
type Fields = Readonly<Record<string, unknown>>;

/**
 * Sends the examples in the OpenAPI document to an API with the job resources and the seeded example application. No
 * server runs the jobs.
 */
describe('The examples of the document', () => {
  let database: TestDatabase;
  let api: RunningApi;
  let document: OpenApiDocument;
  /**
   * Ids of existing items, keyed by path parameter, such as `orderId`. Body fields that refer to an item have the same
   * names.
   */
  let ids: Ids;

  const send = (method: string, path: string, json?: unknown, headers = {}) =>
    api.call(method, `/api/v1${path}`, { token: adminKey, headers, ...(json !== undefined && { json }) });

  /** Creates an item from the first example body of the collection at `path`, and returns it. */
  const made = async (path: string): Promise<Fields> =>
    (await send('POST', path, existing(bodiesOf('POST', path)[0]))).json() as Fields;

  /** Replaces the example ids in a body with ids of existing items. */
  const existing = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(existing);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        name.endsWith('Id') ? ids[name] : existing(member),
      ]),
    );
  };

  const operationAt = (method: string, path: string): Fields =>
    document.paths[path]?.[method.toLowerCase()] as Fields;
  const bodiesOf = (method: string, path: string): unknown[] => {
    const { requestBody } = operationAt(method, path) as {
      requestBody?: { content: Readonly<Record<string, Media>> };
    };
    const { example, examples } = Object.values(requestBody?.content ?? {})[0] ?? {};
    return examples === undefined ? [example] : Object.values(examples).map(({ value }) => value);
  };
  const parametersOf = (method: string, path: string): readonly Example[] =>
    [document.paths[path]?.parameters, operationAt(method, path)['parameters']]
      .flatMap((parameters) => (parameters ?? []) as readonly Parameter[])
      .map(({ example, examples = {}, ...rest }) => ({
        ...rest,
        example: example ?? Object.values(examples)[0]?.value,
      }));
  const queryOf = (method: string, path: string): string =>
    parametersOf(method, path)
      .filter((parameter) => parameter.in === 'query' && parameter.example !== undefined)
      // Omits the fixed times of the examples. Statistics are kept for only 31 days, so the times would soon be
      // rejected.
      .filter(({ name }) => path !== '/statistics' || !['startsAfter', 'startsBefore'].includes(name))
      .flatMap(({ name, example, explode }) => {
        const values = Array.isArray(example) && explode === true ? (example as unknown[]) : [example];
        return values.map((value) => `${name}=${encodeURIComponent(String(value))}`);
      })
      .join('&');
  const headersOf = (method: string, path: string): Record<string, string> =>
    Object.fromEntries(
      parametersOf(method, path)
        .filter((parameter) => parameter.in === 'header' && parameter.name !== 'Idempotency-Key')
        .map(({ name, example }) => [name, String(example)]),
    );

  before(async () => {
    database = await createTestDatabase();
    api = await runApi({
      API_STORAGE: 'postgres',
      DATABASE_URL: database.url,
      API_SEED_ROWS: '30',
    });
    await eventually(async () => (await api.call('GET', '/readyz')).status === 200);
    document = (await send('GET', '/openapi.json')).json() as OpenApiDocument;
    ids = {};
    await made('/jobs'); // also creates the job's queue, so that the API has one to return
    const first = async (path: string): Promise<Fields> =>
      ((await send('GET', `${path}?limit=1`)).json() as Fields[])[0] ??
      (operationAt('POST', path) === undefined ? {} : await made(path));
    for (const path of Object.keys(document.paths).filter((path) => /^\/[\w-]+$/.test(path))) {
      const parameter = /\{(\w+)\}/.exec(
        Object.keys(document.paths).find((below) => below.startsWith(`${path}/{`)) ?? '',
      )?.[1];
      if (parameter === undefined || path === '/set-aside-items') continue;
      const key = (/[A-Z][a-z]*$/.exec(parameter)?.[0] ?? 'Id').toLowerCase();
      ids = { ...ids, [parameter]: String((await first(path))[key]) };
    }
  });
  after(async () => {
    await api.stop();
    await database.drop();
  });

  it('of parameters work, all at once, on every list', async () => {
    const lists = Object.keys(document.paths).filter(
      (path) => /^\/[\w-]+$/.test(path) && path !== '/events' && operationAt('GET', path) !== undefined,
    );
    expect(lists.length).to.be.above(12);
    for (const path of lists) {
      const answer = await send('GET', `${path}?${queryOf('GET', path)}`, undefined, headersOf('GET', path));
      expect(answer.status, `${path}?${queryOf('GET', path)} ${answer.text.slice(0, 500)}`).to.equal(200);
    }
  });

  it('of new items create items, singly and in an array', async () => {
    const creations = operationsOf(document).filter(
      ({ method, template }) => method === 'POST' && /^\/[\w-]+$/.test(template),
    );
    expect(creations.length).to.be.above(8);
    for (const { template } of creations) {
      for (const body of bodiesOf('POST', template)) {
        const [{ id } = {}] = [body].flat() as Fields[];
        if (typeof id === 'string') await send('DELETE', `${template}/${id}`);
        const json = existing(body);
        const answer = await send('POST', template, json);
        expect(answer.status, `POST ${template} ${JSON.stringify(json)} ${answer.text}`).to.be.oneOf([
          200, 201,
        ]);
        if (typeof id === 'string') continue;
        // Deletes what the example created, because the next example may use the same values in unique fields.
        for (const item of [answer.json()].flat() as { id: unknown }[])
          await send('DELETE', `${template}/${String(item.id)}`);
      }
    }
  });

  it('of changes change an item', async () => {
    const changes = operationsOf(document).filter(({ method, template }) =>
      method === 'PATCH'
        ? /^\/[\w-]+\/\{\w+\}$/.test(template)
        : method === 'PUT' && /^\/[\w-]+\/\{\w+\}$/.test(template),
    );
    expect(changes.length).to.be.above(12);
    for (const { method, template } of changes) {
      const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? name));
      const headers = headersOf(method, template);
      const answer = await send(method, path, existing(bodiesOf(method, template)[0]), headers);
      expect(answer.status, `${method} ${path} ${answer.text}`).to.equal(200);
    }
  });
});
