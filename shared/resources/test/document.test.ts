import { expect } from 'chai';
import { defineResource, type OpenApiDocument } from '@longshore/resources';
import Type from 'typebox';
import { serve } from './support/api.js';
import { newBook, type Library, serveLibrary } from './support/library.js';

interface Operation {
  readonly operationId: string;
  readonly description: string;
  readonly parameters?: readonly { readonly name: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, { readonly links?: Readonly<Record<string, Link>> }>>;
}

interface Link {
  readonly operationId: string;
  readonly parameters: Readonly<Record<string, string>>;
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly readOnly?: boolean;
  readonly required?: readonly string[];
  readonly maxItems?: number;
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

describe('The document', () => {
  let api: Library;
  let document: OpenApiDocument;
  let operations: ReadonlyMap<string, Operation>;
  before(async () => {
    api = await serveLibrary();
    document = (await api.call('/api/v1/openapi.json')).body as OpenApiDocument;
    operations = new Map(
      Object.values(document.paths)
        .flatMap((item) => Object.values(item) as Operation[])
        .filter(({ operationId }) => operationId !== undefined)
        .map((operation) => [operation.operationId, operation]),
    );
  });
  after(() => api.close());

  const operation = (id: string): Operation => {
    const found = operations.get(id);
    if (found === undefined) throw new Error(`There is no operation ${id}`);
    return found;
  };
  const schema = (name: string): Schema => document.components.schemas[name] as Schema;
  const bodyOf = (id: string): Schema | undefined =>
    operation(id).requestBody?.content['application/json']?.schema;

  it('describes each operation of a resource in its own words', () => {
    const descriptions = [
      'listBooks',
      'createBook',
      'replaceBooks',
      'deleteBooks',
      'getBook',
      'updateBook',
    ].map((id) => operation(id).description);
    expect(new Set(descriptions).size).to.equal(descriptions.length);
  });

  it('lists 412 only where If-Match is a parameter', () => {
    for (const { operationId, parameters = [], responses } of operations.values()) {
      const takesTag = parameters.some(({ name }) => name === 'If-Match');
      expect('412' in responses, operationId).to.equal(takesTag);
    }
  });

  it('lists 429 for every operation except the error pages, which are not counted', () => {
    const without = [...operations.values()].filter(({ responses }) => !('429' in responses));
    expect(without.map(({ operationId }) => operationId)).to.deep.equal(['getError']);
  });

  it('does not require the field of a new child that its path gives', () => {
    expect(bodyOf('createAuthorBook')?.$ref).to.equal('#/components/schemas/BookCreateBelowAuthorOneOrMany');
    expect(schema('BookCreateBelowAuthorOneOrMany').oneOf?.[0]?.$ref).to.equal(
      '#/components/schemas/BookCreateBelowAuthor',
    );
    expect(schema('BookCreateBelowAuthor').required).to.deep.equal(['title', 'price']);
    expect(schema('BookCreate').required).to.include('authorId');
  });

  it('marks the fields that only the server sets', () => {
    const { id, status, title } = schema('Book').properties ?? {};
    expect([id?.readOnly, status?.readOnly, title?.readOnly]).to.deep.equal([true, true, undefined]);
  });

  it('gives nested objects a schema of their own, which equal objects share', () => {
    const details = (name: string): string | undefined => schema(name).properties?.['details']?.$ref;
    expect(details('Book')).to.equal('#/components/schemas/BookDetails');
    expect(details('BookFields')).to.equal(details('Book'));
    expect(schema('BookDetails').properties).to.have.keys('isbn', 'colour');
    expect(schema(details('BookPatch')?.split('/').at(-1) ?? '').type).to.deep.equal(['object', 'null']);
  });

  it('shows an exact filter as an array, unless it may be given only once', async () => {
    const served = await serve({
      resources: [
        defineResource({
          name: 'shelves',
          singular: 'shelf',
          item: Type.Object({ id: Type.String(), floor: Type.Integer(), side: Type.String() }),
          filters: { floor: { field: 'floor', match: 'exact', single: true }, side: 'exact' },
          storage: { list: async () => ({ items: [], total: 0 }) },
        }),
      ],
    });
    const answer = await served.call('/api/v1/openapi.json');
    const twice = await served.call('/api/v1/shelves?floor=1&floor=2');
    await served.close();
    const { paths } = answer.body as OpenApiDocument;
    const list = paths['/shelves']?.['get'] as { parameters: { name: string; schema: Schema }[] } | undefined;
    const typeOf = (wanted: string) => list?.parameters.find(({ name }) => name === wanted)?.schema.type;
    expect([typeOf('floor'), typeOf('side')]).to.deep.equal(['integer', 'array']);
    expect(twice.codes).to.deep.equal([40003]);
  });

  it('states the type of an enumeration', () => {
    const enumerations: Schema[] = [];
    JSON.parse(JSON.stringify(document), (_, value: Schema | null) => {
      if (Array.isArray(value?.enum)) enumerations.push(value);
      return value;
    });
    expect(enumerations.length).to.be.above(5);
    for (const enumeration of enumerations) expect(enumeration).to.have.property('type');
  });

  it('leads from a new item to the operations on it, and from an item to its children', () => {
    const links = operation('createAuthorBook').responses['201']?.links ?? {};
    expect(links).to.include.keys('getAuthorBook', 'updateAuthorBook', 'lendAuthorBook');
    expect(links['getAuthorBook']?.parameters).to.deep.equal({
      authorId: '$request.path.authorId',
      bookId: '$response.body#/id',
    });
    expect(operation('getBook').responses['200']?.links).to.have.keys('listBookChapters');
    for (const { responses } of operations.values())
      for (const { links = {} } of Object.values(responses))
        for (const { operationId } of Object.values(links))
          expect(operations.has(operationId)).to.equal(true);
  });

  it('asks tools for no array of thousands of elements', () => {
    JSON.parse(
      JSON.stringify([...operations.values()].map(({ requestBody }) => requestBody)),
      (name, value) => {
        if (name === 'maxItems') expect(value).to.be.most(1_000);
        return value as unknown;
      },
    );
  });

  it('limits the text of a body that states no limit, and the API keeps to it', async () => {
    const json = newBook({ tags: ['x'.repeat(10_001)] });
    const { codes, messages } = await api.call('/api/v1/books', { method: 'POST', json });
    expect([codes, messages]).to.deep.equal([[42202], 'tags[0] must have at most 10000 characters']);
  });

  it('promises that a bulk change honours If-Match, which it does', async () => {
    const made = await api.call('/api/v1/books', { method: 'POST', json: newBook() });
    const send = (tag: string) =>
      api.call('/api/v1/books', { method: 'PUT', json: [made.body], headers: { 'if-match': tag } });
    expect((await send('"stale"')).codes).to.deep.equal([41201]);
    expect((await send(`"stale", ${made.headers.get('etag')}`)).status).to.equal(200);
  });
});
