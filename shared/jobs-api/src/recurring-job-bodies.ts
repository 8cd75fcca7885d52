import { isDeepStrictEqual } from 'node:util';
import {
  defineRecurringJob,
  InvalidArgumentsError,
  type NewRecurringJob,
  type RecurringJob,
  type RecurringJobOptions,
} from '@longshore/jobs';
import { ApiError, apiError } from '@longshore/resources';
import type { EnqueueRequests } from './enqueue-requests.js';
import type { CallerQuotas } from './quotas.js';
import { type RecurringJobBody, toRecurringJobOptions } from './recurring-job-item.js';

/** Converts request bodies to recurring jobs. */
export class RecurringJobBodies {
  readonly #requests: EnqueueRequests;
  readonly #quotas: CallerQuotas;
  readonly #maxBacklog: number;

  /** @param maxBacklog the backlog up to which the API accepts jobs; `Infinity` for no limit */
  constructor(requests: EnqueueRequests, quotas: CallerQuotas, maxBacklog: number) {
    this.#requests = requests;
    this.#quotas = quotas;
    this.#maxBacklog = maxBacklog;
  }

  /**
   * Returns a new recurring job.
   * @throws {ApiError} 42202 if it would be due too often, or its `maxBacklog` is too large
   */
  async created({ maxBacklog = null, ...body }: RecurringJobBody): Promise<NewRecurringJob> {
    const options = toRecurringJobOptions(this.#requests, body);
    return this.#defined({ ...options, maxBacklog: this.#backlogOf(maxBacklog) });
  }

  /**
   * Returns the new version of a recurring job. A field that is absent has its default. If the name or the arguments of its
   * jobs change, their concurrency key and unique key are derived again, unless a request has set others than the job
   * definition gives. Throws as {@link created} does.
   *
   * @param current `undefined` if there is none
   */
  async changed(body: RecurringJobBody, current: RecurringJob | undefined): Promise<NewRecurringJob> {
    const { maxBacklog = null, concurrency = null, unique = null, ...rest } = body;
    const most = maxBacklog === current?.maxBacklog ? maxBacklog : this.#backlogOf(maxBacklog);
    const derived = current === undefined ? undefined : this.#keysByDefinition(current);
    const isDerived = (key: 'concurrency' | 'unique', given: object | null): boolean =>
      derived !== undefined &&
      isDeepStrictEqual(given, current?.[key]) &&
      isDeepStrictEqual(given, derived[key]);
    const isSame = rest.name === current?.name && isDeepStrictEqual(rest.args, current.args);
    const options = toRecurringJobOptions(this.#requests, {
      ...rest,
      ...(isSame && { version: current.version }),
      ...(!isDerived('concurrency', concurrency) && { concurrency }),
      ...(!isDerived('unique', unique) && { unique }),
    });
    return this.#defined({ ...options, maxBacklog: most });
  }

  async #defined(options: RecurringJobOptions): Promise<NewRecurringJob> {
    const [name = ''] = options.id.split('@');
    const job = { ...defineRecurringJob({ ...options, id: name }), id: options.id };
    await this.#quotas.checkSchedule(job);
    return job;
  }

  /** Returns what was requested or, by default, the limit of the API. */
  #backlogOf(requested: number | null): number | null {
    const limit = this.#maxBacklog;
    if (requested !== null && requested > limit)
      throw apiError(42202, `maxBacklog is at most ${limit}, the backlog up to which the API accepts jobs`);
    return requested ?? (limit === Infinity ? null : limit);
  }

  /** Returns the keys that the job definition gives to the jobs of a recurring job; `undefined` if it refuses them. */
  #keysByDefinition({
    name,
    args,
    version,
  }: RecurringJob): Pick<NewRecurringJob, 'concurrency' | 'unique'> | undefined {
    try {
      const definition = this.#requests.definitionOf(name);
      return defineRecurringJob({ id: 'any', definition, args: args as object, version, every: '1 d' });
    } catch (error) {
      if (error instanceof ApiError || error instanceof InvalidArgumentsError || error instanceof RangeError)
        return undefined;
      throw error;
    }
  }
}
