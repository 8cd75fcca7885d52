import type { JobDefinition } from '../job/definition.js';
import type { OptionNames } from '../job/options.js';
import type { EnqueueOptions } from './enqueue-options.js';

/** The `args` member of a request; optional if the job has no required arguments. */
export type ArgsMember<Input> = {} extends Input
  ? { readonly args?: NoInfer<Input> }
  : { readonly args: NoInfer<Input> };

/** The parameters of `enqueue` after the definition; `args` is optional if the job has no required arguments. */
export type EnqueueRest<Input> = {} extends Input
  ? [args?: NoInfer<Input>, options?: EnqueueOptions]
  : [args: NoInfer<Input>, options?: EnqueueOptions];

/** The type of the arguments that enqueuers pass for a job of this definition. */
export type InputOfJob<Definition extends JobDefinition> = NonNullable<Definition['types']>['input'];

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
