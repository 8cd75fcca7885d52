import type { JobDefinition } from '../job/definition.js';
import type { EnqueueOptions } from './enqueue-options.js';

/** One job of a bulk: a definition, its arguments and options. */
export interface EnqueueRequest<Args = unknown> {
  readonly definition: JobDefinition<Args>;
  readonly args: Args;
  readonly options?: Omit<EnqueueOptions, 'transaction'>;
}
