import type { NewJob } from '@longshore/jobs';

/** Longer bulks are split: a statement's parameters are built and parsed as a whole, and one is built while Postgres works on another. */
export const maxChunk = 2_000;

/** Characters of arguments. */
const maxChunkSize = 4_000_000;

/** Jobs in the chunks that single inserts write. */
export function* chunks(jobs: readonly NewJob[]): Generator<NewJob[]> {
  let chunk: NewJob[] = [];
  let size = 0;
  for (const job of jobs) {
    chunk.push(job);
    size += job.args.length;
    if (chunk.length < maxChunk && size < maxChunkSize) continue;
    yield chunk;
    chunk = [];
    size = 0;
  }
  if (chunk.length > 0) yield chunk;
}
