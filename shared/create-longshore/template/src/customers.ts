import { defineResource, tableStorage } from '@longshore/resources';
import Type from 'typebox';
import { sendWelcome } from './jobs/send-welcome.js';

/** The resource at /api/v1/customers, with validation, filters, paging, and a page in the API reference. */
export const customers = defineResource(
  {
    name: 'customers',
    description: 'The customers of {{name}}.',
    item: Type.Object({
      id: Type.String({ format: 'uuid' }),
      name: Type.String({ minLength: 1, maxLength: 100 }),
      email: Type.String({ format: 'email' }),
      welcomedAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    }),
    serverSet: ['id', 'welcomedAt'],
    filters: { name: 'partial', email: 'exact' },
    sort: ['name', 'email'],
    operations: { welcome: { summary: 'Send the welcome mail', enqueues: true } },
  },
  tableStorage({
    name: 'app.customer',
    operations: {
      // Enqueues the job in the request's transaction. If the request fails, no job is enqueued.
      welcome: async ({ item, enqueue }) => {
        await enqueue(sendWelcome, { email: item.email });
      },
    },
  }),
);
