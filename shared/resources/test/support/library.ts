import pg from 'pg';
import Type from 'typebox';
import { createTestDatabase, patientStorage, type TestDatabase } from '@longshore/test-support';
import {
  defineResource,
  type Resource,
  type ResourceApiOptions,
  tableIndexes,
  tableStorage,
} from '@longshore/resources';
import { serve, type TestApi } from './api.js';

declare module '@longshore/edge' {
  interface OperationJobs {
    /** Stores a reminder. Returns its id. */
    readonly remind: (args: object) => Promise<{ readonly id: string }>;
  }
}

const Author = Type.Object({
  id: Type.String({ pattern: '^[a-z]+$', maxLength: 20 }),
  name: Type.String({ minLength: 1, maxLength: 40 }),
  email: Type.Union([Type.String({ format: 'email' }), Type.Null()]),
});

const Book = Type.Object({
  id: Type.String({ format: 'uuid' }),
  title: Type.String({ minLength: 1, maxLength: 100 }),
  authorId: Type.String(),
  status: Type.Enum(['available', 'lent', 'lost', 'sold']),
  price: Type.Number({ minimum: 0, maximum: 10_000 }),
  pages: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
  tags: Type.Array(Type.String(), { default: [], maxItems: 10 }),
  details: Type.Optional(
    Type.Object(
      { isbn: Type.Optional(Type.String()), colour: Type.Optional(Type.String()) },
      { additionalProperties: true },
    ),
  ),
  createdAt: Type.String({ format: 'date-time' }),
});

const chapters = defineResource(
  {
    name: 'chapters',
    item: Type.Object({
      id: Type.String({ format: 'uuid' }),
      bookId: Type.String({ format: 'uuid' }),
      heading: Type.String(),
    }),
    serverSet: ['id'],
    search: [],
  },
  tableStorage({ name: 'library.chapter' }),
);

export const books = defineResource(
  {
    name: 'books',
    description: 'Books that can be lent and sold.',
    item: Book,
    serverSet: ['id', 'status', 'createdAt'],
    filters: {
      title: 'partial',
      status: 'exact',
      authorId: 'exact',
      tag: { field: 'tags', match: 'exact' },
      details: 'path',
      minPages: { field: 'pages', match: 'from' },
      maxPages: { field: 'pages', match: 'to' },
      minPrice: { field: 'price', match: 'from' },
      createdAfter: { field: 'createdAt', match: 'from' },
      createdBefore: { field: 'createdAt', match: 'to' },
    },
    search: ['title'],
    operations: {
      lend: {
        summary: 'Lend a book',
        body: Type.Object(
          { days: Type.Integer({ minimum: 1, default: 14 }) },
          { additionalProperties: false },
        ),
        states: { field: 'status', from: ['available'], to: ['lent'] },
        enqueues: true,
      },
      lose: {
        summary: 'Note the loss',
        states: { field: 'status', from: ['available', 'lent'], to: ['lost'] },
      },
    },
    children: [{ resource: chapters, by: 'bookId' }],
  },
  tableStorage({
    name: 'library.book',
    operations: {
      lend: async ({ item, body, remind }) => {
        await remind({ book: item.id, days: body.days });
        return { pages: (item.pages ?? 0) + body.days };
      },
    },
  }),
);

export const authors = defineResource(
  {
    name: 'authors',
    item: Author,
    filters: { name: 'partial', email: 'exact' },
    ifMatch: 'required',
    children: [{ resource: books, by: 'authorId' }],
  },
  tableStorage({ name: 'library.author' }),
);

export const library: readonly Resource[] = [authors, books];

const tables = `
  create extension pg_trgm;
  create schema library;
  create table library.author (id text primary key, name varchar(20) not null, email text unique);
  create table library.book (
    id uuid primary key default gen_random_uuid(),
    title text not null,
    author_id text not null references library.author,
    status text not null default 'available',
    price numeric(8,2) not null check (price <> 13),
    pages int,
    tags text[] not null default '{}',
    details jsonb,
    created_at timestamptz not null default now()
  );
  create table library.chapter (
    id uuid primary key default gen_random_uuid(),
    book_id uuid not null references library.book on delete cascade,
    heading text not null
  );
  create table library.reminder (id uuid primary key default gen_random_uuid(), args jsonb not null);
`;

async function migrate(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`${tables}; ${tableIndexes(library).join(';')}`);
  await client.end();
}

export interface Library extends TestApi {
  readonly database: TestDatabase;
  readonly pool: pg.Pool;
}

/** Serves the library with a new database that contains two authors. */
export async function serveLibrary(
  options: Partial<Omit<ResourceApiOptions, 'log' | 'resources' | 'platform'>> = {},
): Promise<Library> {
  const database = await createTestDatabase(migrate);
  await database.query(
    `insert into library.author values ('austen', 'Jane Austen', 'jane@example.com'), ('eliot', 'George Eliot', null)`,
  );
  const pool = new pg.Pool({ connectionString: database.url, max: 5 });
  const api = await serve({
    resources: library,
    platform: {
      database: pool,
      searchTimeoutMs: patientStorage.searchTimeoutMs,
      jobs: (transaction) => ({
        remind: async (args) => {
          const { rows } = await transaction.query(
            'insert into library.reminder (args) values ($1) returning id',
            [args],
          );
          return { id: String(rows[0]?.['id']) };
        },
      }),
    },
    ...options,
  });
  const close = async (): Promise<void> => {
    await api.close();
    await pool.end();
    await database.drop();
  };
  return { ...api, close, database, pool };
}

/** Returns a valid body for a new book; `fields` adds or replaces fields. */
export function newBook(fields: object = {}): object {
  return { title: 'Emma', authorId: 'austen', price: 9.5, ...fields };
}
