import {
  type Actor,
  type Call,
  type Facts,
  kinds,
  type OperableStorage,
  type Operation,
  type OperationDescription,
  operationsAllowedIn,
  type Performed,
} from '@longshore/jobs/operations';
import { bounds } from '@longshore/jobs/storage';
import {
  apiError,
  type CallContext,
  type Check,
  type OperationDeclaration,
  type OperationFunction,
  Outcome,
  type Resource,
  type SetOperationDeclaration,
} from '@longshore/resources';
import Type, { type TObject, type TSchema } from 'typebox';
import { text } from './fields.js';

/** A caller's reason for an operation, recorded in the audit log. */
export const Reason = text(bounds.reasonLength, 'Why; kept in the audit log');

/** How a resource serves the operations on its items as `PUT /{plural}/{id}/{verb}`. */
export interface Serving<Subject, After, Item> {
  readonly storage: OperableStorage;
  /** Whether operations that may need a reason are refused without one. */
  readonly requiresReason: boolean;
  readonly toItem: (subject: Subject) => Item;
  /** Returns the answer from what the operation returns. */
  readonly answer: (
    after: After,
    target: string,
    context: CallContext,
  ) => Item | Outcome<Item> | Promise<Item | undefined>;
}

type Functions<Item> = Readonly<Record<string, OperationFunction<Item, unknown>>>;

/** Returns the declaration of an operation for the API reference and for the check of its body. */
export function declarationOf(
  { summary, note, pending, states, fields, isReasoned = false }: OperationDescription,
  requiresReason: boolean,
): OperationDeclaration & { readonly body: TObject } {
  const required = isReasoned && requiresReason;
  return {
    summary,
    ...(note !== undefined && { note }),
    ...(pending !== undefined && { pending }),
    ...(states && { states: { field: 'state', ...states } }),
    body: Type.Object(
      { ...fields.properties, reason: required ? Reason : Type.Optional(Reason) },
      { additionalProperties: false },
    ),
  };
}

/** Returns the declaration of an operation on many items. */
export function setDeclarationOf(
  { summary, note, fields, isReasoned = false }: OperationDescription,
  answer: () => Resource,
  requiresReason: boolean,
): SetOperationDeclaration {
  const reason = isReasoned && requiresReason ? Reason : Type.Optional(Reason);
  return { summary, note, body: Type.Object({ ...fields.properties, reason }), answer };
}

/** Returns the function that serves an operation. */
export function functionOf<Subject, After, Item>(
  operation: Operation<TObject, Subject, string, After>,
  { storage, toItem, answer }: Serving<Subject, After, Item>,
): OperationFunction<Item, unknown> {
  return async (target, body, context, check) => {
    const { reason, ...fields } = body as { readonly reason?: string };
    const { facts, subject } = await perform(operation, storage, context, {
      target,
      fields,
      reason,
      check: check && ((current) => check(toItem(current))),
    });
    if (subject === null) return undefined;
    const answered = await answer(subject, target, context);
    if (answered === undefined || answered instanceof Outcome) return answered;
    const isPending = operation.isPending?.(subject) ?? false;
    return new Outcome(answered, { isPending, changed: changedBy(facts) });
  };
}

/** Returns how many targets an operation has changed; `undefined` if it can change only one. */
function changedBy(facts: Facts): number | undefined {
  if (facts.outcome !== 'done' && facts.outcome !== 'unchanged') return undefined;
  return facts.count?.exact === true ? facts.count.count : undefined;
}

/** Returns the operations of a resource, by verb, for its definition. */
export function served<Subject, Item>(
  operations: readonly Operation<TObject, Subject>[],
  serving: Omit<Serving<Subject, Subject, Item>, 'answer'>,
): {
  readonly declarations: Readonly<Record<string, OperationDeclaration & { readonly body: TSchema }>>;
  readonly functions: Functions<Item>;
} {
  const { toItem, requiresReason } = serving;
  const whole = { ...serving, answer: toItem };
  return {
    declarations: Object.fromEntries(
      operations.map((operation) => [operation.name, declarationOf(operation, requiresReason)]),
    ),
    functions: Object.fromEntries(
      operations.map((operation) => [operation.name, functionOf(operation, whole)]),
    ),
  };
}

type ApiCall<Target, Fields, Subject> = Pick<
  Call<Target, Fields, Subject>,
  'target' | 'fields' | 'reason' | 'check' | 'selected'
>;

/**
 * Carries out an operation on behalf of the caller of the API. The subject is `null` if the target does not exist.
 *
 * @throws {ApiError} 40902 if the target's state does not allow the operation, 42202 if a field is invalid
 */
export async function perform<Fields, Subject, Target, After, Storage = OperableStorage>(
  operation: PerformedBy<Fields, Subject, Target, After, Storage>,
  storage: Storage,
  context: CallContext,
  call: ApiCall<Target, Fields, Subject>,
): Promise<Performed<After>> {
  const performed = await attempt(operation, storage, context, call);
  const { facts } = performed;
  if (facts.outcome === 'unknown') return { facts, subject: null };
  if (facts.outcome !== 'illegal') return performed;
  const { noun = kinds[operation.on].noun } = operation;
  const allowed = facts.state === undefined ? [] : operationsAllowedIn(operation.on, facts.state);
  const instead = allowed.length === 0 ? '' : `; in this state, it can be ${allowed.join(' or ')}`;
  throw apiError(40902, `The ${noun} cannot be ${operation.done}: ${facts.why}${instead}`);
}

/** Like {@link perform}, but leaves a refusal to the caller. */
export async function attempt<Fields, Subject, Target, After, Storage = OperableStorage>(
  operation: PerformedBy<Fields, Subject, Target, After, Storage>,
  storage: Storage,
  context: CallContext,
  call: ApiCall<Target, Fields, Subject>,
): Promise<Performed<After>> {
  const { transaction } = context;
  try {
    return await operation.perform(storage, { ...call, by: actorOf(context), transaction });
  } catch (error) {
    throw error instanceof RangeError ? apiError(42202, error.message) : error;
  }
}

type PerformedBy<Fields, Subject, Target, After, Storage> = Pick<
  Operation<TObject, Subject, Target, After>,
  'on' | 'noun' | 'done'
> & {
  perform(storage: Storage, call: Call<Target, Fields, Subject>): Promise<Performed<After>>;
};

/** Returns the caller of the API as the audit log records it. */
export function actorOf({ principal, address, rowScope }: CallContext): Actor {
  return { name: principal?.name ?? 'anonymous', via: 'api', visibleQueues: rowScope, address };
}

/** Returns the check of a request's conditions as a check of the storage's subject. */
export function checkOf<Subject, Item>(
  check: Check<Item> | undefined,
  toItem: (subject: Subject) => Item,
): ((subject: Subject) => void) | undefined {
  return check && ((subject) => check(toItem(subject)));
}
