import type { JobDefinition } from '../job/definition.js';
import type { EnqueueOptions } from './enqueue-options.js';

/** A job to enqueue: definition, arguments and options. */
export interface EnqueueRequest<Args = unknown> {
  readonly definition: JobDefinition<Args>;
  readonly args: Args;
  readonly options?: Omit<EnqueueOptions, 'transaction'>;
}
