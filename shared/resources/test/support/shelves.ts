import Type, { type Static } from 'typebox';
import { apiError, defineResource, type Resource } from '@longshore/resources';

const Book = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  title: Type.String({ minLength: 1, maxLength: 100 }),
  shelf: Type.String(),
  state: Type.Enum(['available', 'lent']),
  pages: Type.Optional(Type.Integer({ minimum: 1 })),
  addedAt: Type.String({ format: 'date-time' }),
});
type Book = Static<typeof Book>;

const Shelf = Type.Object({ name: Type.String() });

/** Returns the complete example from the README: two resources in memory. */
export function shelvesAndBooks(): readonly Resource[] {
  const byId = new Map<number, Book>();

  const books = defineResource({
    name: 'books',
    description: 'Books that can be lent.',
    item: Book,
    serverSet: ['id', 'state', 'addedAt'],
    filters: {
      shelf: 'exact',
      title: 'partial',
      addedAfter: { field: 'addedAt', match: 'from' },
    },
    sort: ['title', 'addedAt'],
    search: ['title'],
    operations: {
      lend: { summary: 'Lend a book', body: Type.Object({ days: Type.Integer({ minimum: 1 }) }) },
    },
    storage: {
      list: async ({ filters, limit, offset }) => {
        const shelf = filters.find(({ field }) => field === 'shelf');
        const matching = [...byId.values()].filter((book) => shelf?.values.includes(book.shelf) ?? true);
        return { items: matching.slice(offset, offset + limit), total: matching.length };
      },
      get: async (id) => byId.get(Number(id)),
      create: async (body) => {
        const book: Book = {
          ...body,
          id: byId.size + 1,
          state: 'available',
          addedAt: '2026-01-01T00:00:00Z',
        };
        byId.set(book.id, book);
        return book;
      },
      patch: async (id, change) => {
        const book = byId.get(Number(id));
        if (book === undefined) return undefined;
        const changed: Book = { ...book, ...change.apply(book) };
        byId.set(changed.id, changed);
        return changed;
      },
      operations: {
        lend: async (id, { days }) => {
          const book = byId.get(Number(id));
          if (book === undefined || book.state === 'lent') return book;
          if (days > 30) throw apiError(40902, 'A book is lent for 30 days at most');
          book.state = 'lent';
          return book;
        },
      },
    },
  });

  const shelves = defineResource({
    name: 'shelves',
    singular: 'shelf',
    key: 'name',
    item: Shelf,
    children: [{ resource: books, by: 'shelf', serves: ['list', 'create'] }],
    storage: {
      list: async () => ({ items: [{ name: 'left' }, { name: 'right' }], total: 2 }),
      get: async (name) => (name === 'left' || name === 'right' ? { name } : undefined),
    },
  });

  return [books, shelves];
}
