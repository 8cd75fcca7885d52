import type { CallContext } from '../../definition/context.js';
import type { UncheckedBody } from '../../definition/storage.js';
import { ApiError, type Problem, ProblemList } from '../../errors/api-error.js';
import type { ApiRequest, ApiResponse, Preferences } from '../request.js';
import type { Route } from '../route.js';

/**
 * A request whose method, permissions and media types have been checked. The handler checks the query and the content
 * of the body.
 */
export interface CheckedRequest<Kind extends Route['kind'] = Route['kind']> {
  readonly request: ApiRequest;
  readonly route: Route & { readonly kind: Kind };
  readonly preferences: Preferences;
  readonly context: CallContext;
  /** The parsed JSON body; undefined if there is none. */
  readonly body: unknown;
  /** URL of the API version, e.g. `https://example.com/api/v1`. */
  readonly apiUrl: string;
}

/**
 * Performs a request whose query and body have been checked. Uses the storage.
 *
 * @param context the request's context, with the transaction to use, if any
 */
export type Execute = (context: CallContext) => Promise<ApiResponse>;

/** Checks the query and the body, without using the storage. Returns the function that performs the request. */
export type Handler<Kind extends Route['kind']> = (
  checked: CheckedRequest<Kind>,
) => Execute | Promise<Execute>;

/**
 * Throws the collected problems of a request, if there are any, together with what the storage finds wrong with its body, so
 * that callers learn of everything at once. Without problems, does not ask the storage, which checks the same when it
 * writes.
 *
 * @throws {ApiError} 422
 */
export async function throwAllProblems(checked: CheckedRequest, problems: ProblemList): Promise<void> {
  if (problems.isEmpty) return;
  problems.addAll(await furtherProblems(checked));
  problems.throwIfAny();
}

/**
 * Runs `perform`. If the storage rejects the body, adds everything else that is wrong with it to the error: a storage may
 * stop at the first problem that it meets.
 */
export async function withAllProblems<Result>(
  checked: CheckedRequest,
  perform: () => Promise<Result>,
): Promise<Result> {
  try {
    return await perform();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 422) throw error;
    const further = await furtherProblems(checked);
    const isKnown = ({ code, internalMessage }: Problem): boolean =>
      further.some((other) => other.code === code && other.internalMessage.endsWith(internalMessage));
    const problems = new ProblemList();
    problems.addAll(further);
    problems.addAll(error.problems.filter((problem) => !isKnown(problem)));
    if (further.length > 0) problems.throwIfAny();
    throw error;
  }
}

async function furtherProblems({ route, context, body }: CheckedRequest): Promise<readonly Problem[]> {
  if (route.kind !== 'collection' && route.kind !== 'item') return [];
  const bodies: readonly UncheckedBody[] = Array.isArray(body)
    ? body.map((element: unknown, index) => ({ body: element, at: `[${index}]` }))
    : [{ body, at: '' }];
  return (await route.storage.problems?.(bodies, context)) ?? [];
}
