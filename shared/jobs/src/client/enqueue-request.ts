import type { ArgsMember, InputOfJob, JobDefinition } from '../job/definition.js';
import type { OptionNames } from '../job/options.js';
import type { EnqueueOptions } from './enqueue-options.js';

/** The parameters of `enqueue` after the definition; `args` is optional if the job has no required arguments. */
export type EnqueueRest<Input> = {} extends Input
  ? [args?: NoInfer<Input>, options?: EnqueueOptions]
  : [args: NoInfer<Input>, options?: EnqueueOptions];

/** A job to enqueue: definition, arguments and options. */
export type EnqueueRequest<Definition extends JobDefinition = JobDefinition> = {
  readonly definition: Definition;
  readonly options?: Omit<EnqueueOptions, 'transaction'>;
} & ArgsMember<InputOfJob<Definition>>;

export const requestOptions: OptionNames<EnqueueRequest & { args?: unknown }> = {
  definition: true,
  args: true,
  options: true,
};

/** The jobs to enqueue in one call, each typed by its definition. */
export type EnqueueRequests<Definitions extends readonly JobDefinition[]> = {
  readonly [Index in keyof Definitions]: EnqueueRequest<Definitions[Index]>;
};
