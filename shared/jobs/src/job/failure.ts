import type { JobError } from './job.js';
import { storable } from './storable.js';

/** Longer texts are cut: an error is stored with every attempt. */
const maxMessage = 4_000;
const maxStack = 16_000;

/** Turns whatever a handler threw into what is stored about it. Never throws. */
export function toJobError(thrown: unknown): JobError {
  if (thrown instanceof Error) {
    return {
      name: storable(thrown.name || 'Error', 200),
      message: storable(thrown.message, maxMessage),
      stack: thrown.stack === undefined ? null : storable(stackWithCauses(thrown), maxStack),
    };
  }
  return { name: 'NonErrorThrown', message: storable(describe(thrown), maxMessage), stack: null };
}

function stackWithCauses(error: Error): string {
  const parts: string[] = [];
  for (let link: unknown = error; link instanceof Error && parts.length < 5; link = link.cause) {
    parts.push(link.stack ?? `${link.name}: ${link.message}`);
  }
  return parts.join('\nCaused by: ');
}

function describe(thrown: unknown): string {
  try {
    return typeof thrown === 'string' ? thrown : (JSON.stringify(thrown) ?? typeof thrown);
  } catch {
    return 'a value that cannot be printed';
  }
}
