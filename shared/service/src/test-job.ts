import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineJob, handleJob, type JobHandler } from '@longshore/jobs';
import Type from 'typebox';

/** The job that `POST /test` enqueues. It shows that the response is sent at once and the work happens later. */
export const testJob = defineJob({
  name: 'test',
  args: Type.Object(
    { waitMs: Type.Integer({ minimum: 0, maximum: 3_600_000, description: 'How long the job takes' }) },
    { additionalProperties: false },
  ),
});

/**
 * Creates a handler that waits and then writes `test-{id}.txt`.
 *
 * @param directory where to write the result files; created if missing
 */
export function testJobHandler(directory: string): JobHandler {
  return handleJob(testJob, async ({ args, job, signal }) => {
    await sleep(args.waitMs, undefined, { signal });
    const file = path.resolve(directory, `test-${job.id}.txt`);
    await mkdir(path.dirname(file), { recursive: true });
    // Idempotent: running the job again writes the same text to the same file.
    await writeFile(file, `Job ${job.id} waited ${args.waitMs} ms outside of the request.\n`);
    return { file, waitedMs: args.waitMs };
  });
}
