import { defineJob, handleJob } from '@longshore/jobs';
import Type from 'typebox';

/** Finds the smallest number of parcels for an order's items: bin packing, which takes hours in the worst case. */
export const packParcels = defineJob({
  name: 'pack-parcels',
  args: Type.Object(
    {
      weights: Type.Array(Type.Integer({ minimum: 1 }), {
        maxItems: 60,
        description: 'The weight of each item in grams.',
      }),
      limit: Type.Integer({ minimum: 1, description: 'The maximum weight of a parcel in grams.' }),
    },
    { additionalProperties: false },
  ),
  timeoutMs: 60_000,
  // An item that is too heavy for a parcel stays too heavy.
  giveUpOn: [RangeError],
});

/** Runs in a thread, so other jobs and health checks need not wait. Always names the built file, even when run from source. */
export const packParcelsHandler = handleJob(packParcels, {
  module: new URL('../../dist/jobs/parcel-packing.js', import.meta.url),
  thread: true,
});
