import {
  createTestDatabase,
  eventually,
  type HttpResponse,
  type OpenApiDocument,
  type TestDatabase,
} from '@longshore/test-support';
import { adminKey, type RunningApi, runApi } from './running-api.js';

interface Media {
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface DocumentedParameter extends Media {
  readonly name: string;
  readonly in: string;
  readonly explode?: boolean;
}

interface Example extends Pick<DocumentedParameter, 'name' | 'in' | 'explode'> {
  readonly example: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Sends the examples in the OpenAPI document to an API with the job resources and the seeded example application. No
 * server runs the jobs.
 */
export class ExampleRequests {
  readonly document: OpenApiDocument;
  readonly #api: RunningApi;
  readonly #database: TestDatabase;
  /**
   * Ids of existing items, keyed by path parameter, such as `orderId`. Body fields that refer to an item have the same
   * names.
   */
  #ids: Readonly<Record<string, string>> = {};

  private constructor(api: RunningApi, database: TestDatabase, document: OpenApiDocument) {
    this.#api = api;
    this.#database = database;
    this.document = document;
  }

  static async start(): Promise<ExampleRequests> {
    const database = await createTestDatabase();
    const api = await runApi({ API_STORAGE: 'postgres', DATABASE_URL: database.url, API_SEED_ROWS: '30' });
    await eventually(async () => (await api.call('GET', '/readyz')).status === 200);
    const document = (await api.call('GET', '/api/v1/openapi.json', { token: adminKey })).json();
    const requests = new ExampleRequests(api, database, document as OpenApiDocument);
    await requests.#findIds();
    return requests;
  }

  async end(): Promise<void> {
    await this.#api.stop();
    await this.#database.drop();
  }

  /** Sends a request as the admin. Rejects if the response does not match the document. */
  send(method: string, path: string, json?: unknown, headers = {}): Promise<HttpResponse> {
    const body = json === undefined ? {} : { json };
    return this.#api.call(method, `/api/v1${path}`, { token: adminKey, headers, ...body });
  }

  /** Whether there are items with the ids that a path of the document needs: no server runs, and nothing is set aside. */
  hasItems(template: string): boolean {
    return [...template.matchAll(/\{(\w+)\}/g)].every(([, name = '']) => this.#ids[name] !== undefined);
  }

  /** Returns a path of the document with the ids of existing items. */
  pathOf(template: string): string {
    return template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(this.#ids[name] ?? name));
  }

  /**
   * Replaces the example ids in a body with ids of existing items.
   *
   * @param ownId the path parameter of the items that the body's own `id` names; by default, it stays as it is
   */
  existing(value: unknown, ownId = 'id'): unknown {
    if (Array.isArray(value)) return value.map((each) => this.existing(each, ownId));
    if (typeof value !== 'object' || value === null) return value;
    const idOf = (name: string): string | undefined => this.#ids[name === 'id' ? ownId : name];
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        /^id$|Id$/.test(name) ? (idOf(name) ?? member) : this.existing(member),
      ]),
    );
  }

  has(method: string, path: string): boolean {
    return this.document.paths[path]?.[method.toLowerCase()] !== undefined;
  }

  /** Returns the example bodies of an operation. */
  bodiesOf(method: string, path: string): unknown[] {
    const { requestBody } = this.#operationAt(method, path) as {
      requestBody?: { content: Readonly<Record<string, Media>> };
    };
    const { example, examples } = Object.values(requestBody?.content ?? {})[0] ?? {};
    return examples === undefined ? [example] : Object.values(examples).map(({ value }) => value);
  }

  /** Returns the query with the examples of all parameters. */
  queryOf(method: string, path: string): string {
    return this.#parametersOf(method, path)
      .filter((parameter) => parameter.in === 'query' && parameter.example !== undefined)
      .flatMap(({ name, example, explode }) => {
        const values = Array.isArray(example) && explode === true ? (example as unknown[]) : [example];
        return values.map((value) => `${name}=${encodeURIComponent(String(value))}`);
      })
      .join('&');
  }

  /** Returns the examples of all headers, except `Idempotency-Key`. */
  headersOf(method: string, path: string): Record<string, string> {
    return Object.fromEntries(
      this.#parametersOf(method, path)
        .filter((parameter) => parameter.in === 'header' && parameter.name !== 'Idempotency-Key')
        .map(({ name, example }) => [name, String(example)]),
    );
  }

  #operationAt(method: string, path: string): Fields {
    return (this.document.paths[path]?.[method.toLowerCase()] ?? {}) as Fields;
  }

  #parametersOf(method: string, path: string): readonly Example[] {
    return [this.document.paths[path]?.parameters, this.#operationAt(method, path)['parameters']]
      .flatMap((parameters) => (parameters ?? []) as readonly DocumentedParameter[])
      .map(({ example, examples = {}, ...rest }) => ({
        ...rest,
        example: example ?? Object.values(examples)[0]?.value,
      }));
  }

  /** Finds an item of each collection at the top level. Creates one from the example if there is none. */
  async #findIds(): Promise<void> {
    await this.#made('/jobs'); // also creates the job's queue, so that the API has one to return
    const paths = Object.keys(this.document.paths);
    for (const path of paths.filter((each) => /^\/[\w-]+$/.test(each))) {
      const below = paths.find((each) => each.startsWith(`${path}/{`)) ?? '';
      const parameter = /\{(\w+)\}/.exec(below)?.[1];
      if (parameter === undefined || path === '/set-aside-items') continue;
      const key = (/[A-Z][a-z]*$/.exec(parameter)?.[0] ?? 'Id').toLowerCase();
      const [first] = (await this.send('GET', `${path}?limit=1`)).json() as Fields[];
      const item = first ?? (this.has('POST', path) ? await this.#made(path) : {});
      const id = item[key];
      if (typeof id === 'string' || typeof id === 'number')
        this.#ids = { ...this.#ids, [parameter]: String(id) };
    }
  }

  /** Creates an item from the first example body of a collection, and returns it. */
  async #made(path: string): Promise<Fields> {
    return (await this.send('POST', path, this.existing(this.bodiesOf('POST', path)[0]))).json() as Fields;
  }
}
