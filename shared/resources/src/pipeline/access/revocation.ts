import { ApiError } from '../../errors/api-error.js';
import { type Authenticate, identify } from './authentication.js';
import type { ApiRequest, Principal } from '../request/request.js';
import { requireScope } from './scope.js';

/** How often it is looked whether a listener may still listen. */
const usualMs = 30_000;

/** What a caller was let in for. */
export interface Standing {
  readonly authenticate: Authenticate;
  readonly principal: Principal | undefined;
  readonly scope: string;
  /** Milliseconds between two looks; default 30 000. */
  readonly everyMs?: number | undefined;
}

/**
 * A signal for an answer that has no end of its own: aborts with the request's, and as soon as it turns out that the caller
 * would not be let in any more, or not to the same items. While nobody can tell, the caller stays.
 */
export function whileAllowed(request: ApiRequest, standing: Standing): AbortSignal {
  const { authenticate, principal, scope, everyMs = usualMs } = standing;
  const over = new AbortController();
  const look = async (): Promise<void> => {
    try {
      const present = await identify(authenticate, request);
      requireScope(present, scope);
      if (!reachesTheSame(present, principal)) over.abort();
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) over.abort();
    }
  };
  const timer = setInterval(() => void look(), everyMs).unref();
  over.signal.addEventListener('abort', () => clearInterval(timer), { once: true });

  if (request.signal.aborted) over.abort();
  else request.signal.addEventListener('abort', () => over.abort(), { once: true });
  return over.signal;
}

function reachesTheSame(one: Principal | undefined, other: Principal | undefined): boolean {
  return JSON.stringify(one?.confinedTo) === JSON.stringify(other?.confinedTo);
}
