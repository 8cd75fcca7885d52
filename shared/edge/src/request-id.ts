import { randomUUID } from 'node:crypto';

/** What {@link requestIdOf} needs of a Koa context. */
interface RequestContext {
  get(header: string): string;
  readonly state: object;
}

/**
 * Returns the id of a request: the `X-Request-Id` that the client or a gateway sent, if it has at most 128 letters, digits
 * and `_ . : -`, otherwise a random UUID. Returns the same id for the same context again.
 */
export function requestIdOf(context: RequestContext): string {
  const state = context.state as { requestId?: string };
  if (state.requestId !== undefined) return state.requestId;
  const sent = context.get('x-request-id');
  state.requestId = /^[\w.:-]{1,128}$/.test(sent) ? sent : randomUUID();
  return state.requestId;
}
