import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import { onEachStorage } from './support/jobs-api-under-test.js';

/** A request that can change a job, depending on the job's state. */
const step = fc.oneof(
  fc.record({ method: fc.constant('PATCH'), path: fc.constant(''), body: patch() }),
  fc.record({
    method: fc.constant('PUT'),
    path: fc.constantFrom('/cancel', '/retry', '/run'),
    body: fc.constant(undefined),
  }),
);

function patch(): fc.Arbitrary<object> {
  return fc.record(
    {
      priority: fc.integer({ min: 0, max: 2 }),
      args: fc.record({ a: fc.integer({ min: 0, max: 1 }), b: fc.constantFrom(2, 0.1) }),
      runAt: fc.constantFrom('2100-01-01T00:00:00.000Z', '2100-01-01T00:00:00.001Z'),
    },
    { requiredKeys: [] },
  );
}

onEachStorage('The ETag of a job', (api) => {
  it('changes if and only if its representation changes', async () => {
    const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      const { id } = await api.enqueue(api.newName(), { runAt: '2100-01-01T00:00:00.000Z' });
      const seen: { readonly item: unknown; readonly etag: unknown }[] = [];
      const look = async (): Promise<void> => {
        const { item, headers } = await api.get(`/jobs/${id}`);
        seen.push({ item, etag: headers['etag'] });
      };
      await look();
      for (const { method, path, body } of steps) {
        await api.call(method, `/jobs/${id}${path}`, body);
        await look();
      }
      for (const one of seen)
        for (const other of seen)
          expect(one.etag === other.etag, JSON.stringify([one, other])).to.equal(
            isDeepStrictEqual(one.item, other.item),
          );
    });
    await fc.assert(property, { numRuns: 40 });
  });
});
