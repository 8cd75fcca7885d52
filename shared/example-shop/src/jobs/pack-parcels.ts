import { defineJob, handleJob } from '@longshore/jobs';
import Type from 'typebox';

/**
 * Finds the smallest number of parcels that can hold the items of an order. This bin packing problem can take hours in
 * the worst case.
 */
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
  // The handler throws a RangeError if an item is too heavy for any parcel, and retrying cannot help.
  giveUpOn: [RangeError],
});

/**
 * Packs in a worker thread, so that packing does not block other jobs or health checks. The module is always the built
 * file, because worker threads do not load TypeScript.
 */
export const packParcelsHandler = handleJob(packParcels, {
  module: new URL('../../dist/jobs/parcel-packing.js', import.meta.url),
  thread: true,
});
