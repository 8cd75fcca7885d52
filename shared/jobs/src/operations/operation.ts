import Type, { type Static, type TObject } from 'typebox';
import type { JsonValue } from '../job/job.js';
import type { NewAuditEntry } from '../storage/audit-log.js';
import type { ControlOptions } from '../storage/job-control.js';
import type { JobStorage } from '../storage/storage.js';
import { type Actor, auditEntryOf } from './audit-entry.js';
import type { Facts, OperationDescription } from './operation-description.js';

/** Marks options that the wrapper of operations has made. */
declare const ofCall: unique symbol;

/** What only the options of a call have; copies of them have it, too. */
interface OfCall {
  readonly [ofCall]: true;
}

/** A part of a storage whose given methods require the options of a call as their last argument. */
type Requiring<Part, Methods extends keyof Part> = Omit<Part, Methods> & {
  readonly [Method in Methods]: RequiringOptions<Part[Method]>;
};

type RequiringOptions<Method> = Method extends (...args: infer Args) => infer Result
  ? Required<Args> extends [...infer First, infer Options]
    ? (...args: [...First, options: Options & OfCall]) => Result
    : never
  : never;

/**
 * The parts of a storage that operations change. The methods that change something require the options of the call, so that
 * an operation that drops them does not compile: it would ignore what its caller may see, the conditions of the request or
 * its transaction, or write no audit entry.
 */
export interface OperableStorage {
  readonly control: Requiring<
    JobStorage['control'],
    'cancel' | 'retry' | 'run' | 'reschedule' | 'delete' | 'edit'
  >;
  readonly enqueuer: Requiring<Pick<JobStorage['enqueuer'], 'enqueueAudited'>, 'enqueueAudited'>;
  readonly queues: Requiring<
    JobStorage['queues'],
    'create' | 'pause' | 'resume' | 'limit' | 'limitKey' | 'delete'
  >;
  readonly jobTypes: Requiring<JobStorage['jobTypes'], 'pause' | 'resume'>;
  readonly recurring: Requiring<
    JobStorage['recurring'],
    'add' | 'updateAll' | 'trigger' | 'pause' | 'resume' | 'remove'
  >;
  readonly batches: Requiring<JobStorage['batches'], 'cancel'>;
  readonly servers: Requiring<JobStorage['servers'], 'quiet' | 'stop'>;
  readonly bulk: Requiring<JobStorage['bulk'], 'start' | 'cancel'>;
  readonly setAside: Requiring<JobStorage['setAside'], 'retry' | 'discard'>;
  readonly incidents: Requiring<JobStorage['incidents'], 'acknowledge' | 'mute'>;
  readonly installation: Requiring<JobStorage['installation'], 'resume'>;
  readonly savedSearches: Requiring<JobStorage['savedSearches'], 'save' | 'delete'>;
  readonly deployments: Requiring<JobStorage['deployments'], 'record' | 'delete'>;
  readonly steps: Requiring<JobStorage['steps'], 'signal' | 'rerunFrom'>;
  readonly clock: JobStorage['clock'];
}

/** A request to carry out an operation. */
export interface Call<Target, Fields, Subject> {
  /** The id or name of what to change; the selection of jobs if the operation changes many. */
  readonly target: Target;
  readonly fields: Fields;
  readonly by: Actor;
  /** Why; `null` or absent if no reason was given. */
  readonly reason?: string | null | undefined;
  /** How the audit entry describes the selected jobs; absent if the operation changes one thing. */
  readonly selected?: { readonly [member: string]: JsonValue } | undefined;
  /** See {@link ControlOptions.check}. */
  readonly check?: ((subject: Subject) => void) | undefined;
  readonly transaction?: ControlOptions['transaction'];
  /**
   * Called with the facts in the transaction of the change, immediately before it commits. If the call rejects without
   * having called this function, nothing was changed.
   */
  readonly onDecided?: ((facts: Facts) => void) | undefined;
}

/** The outcome of a call. `subject` is the target after the operation; `null` if it does not exist (any more). */
export interface Performed<Subject> {
  readonly facts: Facts;
  readonly subject: Subject | null;
}

/** A change that a person or a program can make to the platform. Every surface carries it out through `perform`. */
export interface Operation<
  Fields extends TObject,
  Subject,
  Target = string,
  After = Subject,
  Storage = OperableStorage,
> extends OperationDescription<Fields> {
  /** Returns whether the operation on this target has only been requested, as `pending` describes; by default, never. */
  readonly isPending?: ((after: After) => boolean) | undefined;
  /**
   * Carries out the operation, and writes its audit entry in the same transaction, even if nothing was changed.
   *
   * @throws {RangeError} if a field is invalid
   */
  perform(storage: Storage, call: Call<Target, Static<Fields>, Subject>): Promise<Performed<After>>;
}

/** The options of a call, with what its caller may see, and why. */
export interface CallOptions<Subject, Result> extends ControlOptions<Subject, Result>, OfCall {
  readonly visibleQueues: Actor['visibleQueues'];
  readonly reason: string | null;
}

/** How an operation is carried out by one call of the storage. */
interface Declaration<
  Fields extends TObject,
  Subject,
  Result,
  Target,
  After,
  Storage,
> extends OperationDescription<Fields> {
  /** Makes one call of the storage, passing on the options. */
  readonly change: (
    storage: Storage,
    call: Call<Target, Static<Fields>, Subject>,
    options: CallOptions<Subject, Result>,
  ) => Promise<Result>;
  /**
   * Reads the facts from the result of that call, which shows the target as it was before. Returns `null` if nothing
   * was done because the target does not exist or has just been changed; `change` then tries again as it sees fit.
   */
  readonly facts: (result: Result, call: Call<Target, Static<Fields>, Subject>) => Facts | null;
  /** Returns the target after the change. */
  readonly after: (
    storage: Storage,
    call: Call<Target, Static<Fields>, Subject>,
    result: Result,
  ) => After | null | Promise<After | null>;
  readonly isPending?: (after: After) => boolean;
}

export const noFields = Type.Object({}, { additionalProperties: false });

/**
 * Makes an operation of its declaration.
 *
 * @typeParam Subject what the operation changes
 * @typeParam Result the result of the storage's call
 * @typeParam Target what identifies the subject
 * @typeParam After what the operation returns
 * @typeParam Storage what carries out the change
 */
export function operation<
  Fields extends TObject,
  Subject,
  Result,
  Target = string,
  After = Subject,
  Storage = OperableStorage,
>(
  declaration: Declaration<Fields, Subject, Result, Target, After, Storage>,
): Operation<Fields, Subject, Target, After, Storage> {
  const { change, facts: factsOf, after, isPending, ...description } = declaration;
  return {
    ...description,
    isPending,
    perform: async (storage, call) => {
      const { by, reason = null, check, transaction, onDecided } = call;
      let facts = null as Facts | null;
      const isRecorded = !(description.isFrequent === true && by.via === 'api' && reason === null);
      const audit = (result: Result): NewAuditEntry | null => {
        facts = factsOf(result, call);
        if (facts === null) return null;
        onDecided?.(facts);
        return auditEntryOf(description, call, facts);
      };
      const result = await change(
        storage,
        call,
        ofThisCall({
          check,
          transaction,
          audit: isRecorded ? audit : undefined,
          visibleQueues: by.visibleQueues,
          reason,
        }),
      );
      facts ??= factsOf(result, call) ?? { outcome: 'unknown' };
      return { facts, subject: await after(storage, call, result) };
    },
  };
}

/** Marks the options of a call. */
function ofThisCall<Options>(options: Options): Options & OfCall {
  return options as Options & OfCall;
}
