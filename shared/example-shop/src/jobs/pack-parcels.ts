import { defineJob, handleJob } from '@longshore/jobs';
import Type from 'typebox';

/** Finds the fewest parcels that hold an order's items: bin packing, hours of computing in the worst case. */
export const packParcels = defineJob({
  name: 'pack-parcels',
  args: Type.Object(
    {
      weights: Type.Array(Type.Integer({ minimum: 1 }), {
        maxItems: 60,
        description: 'Of each item, in grams.',
      }),
      limit: Type.Integer({ minimum: 1, description: 'What a parcel may weigh, in grams.' }),
    },
    { additionalProperties: false },
  ),
  timeoutMs: 60_000,
  // An item that is too heavy for any parcel does not become lighter.
  giveUpOn: [RangeError],
});

/** In a thread, so that other jobs and the health checks do not wait for it. The built file, also when this one runs from its source. */
export const packParcelsHandler = handleJob(packParcels, {
  module: new URL('../../dist/jobs/parcel-packing.js', import.meta.url),
  thread: true,
});
