import type { Principal } from '../../definition/call-context.js';
import { ApiError } from '../../errors/api-error.js';
import type { ApiRequest } from '../request/request.js';
import { type Authenticate, authenticateWith } from './authentication.js';
import { requireScope } from './scope.js';

const defaultRecheckMs = 30_000;

/** The caller's access when the event stream was opened, and how to check that access again. */
export interface StreamGrant {
  readonly authenticate: Authenticate;
  readonly principal: Principal | undefined;
  /** The scope that the stream requires. */
  readonly scope: string;
  /** Interval between checks, in milliseconds; default 30,000. */
  readonly recheckMs?: number | undefined;
}

/**
 * Returns the signal that ends an event stream. The signal aborts when the request is aborted, the caller loses access,
 * or the caller's row scope changes. If the check itself fails, for example in an outage, the stream stays open.
 */
export function abortOnRevocation(request: ApiRequest, grant: StreamGrant): AbortSignal {
  const { authenticate, principal, scope, recheckMs = defaultRecheckMs } = grant;
  const revocation = new AbortController();
  const recheck = async (): Promise<void> => {
    try {
      const current = await authenticateWith(authenticate, request);
      requireScope(current, scope);
      if (!haveSameRowScope(current, principal)) revocation.abort();
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) revocation.abort();
    }
  };
  const timer = setInterval(() => void recheck(), recheckMs).unref();
  revocation.signal.addEventListener('abort', () => clearInterval(timer), { once: true });

  if (request.signal.aborted) revocation.abort();
  else request.signal.addEventListener('abort', () => revocation.abort(), { once: true });
  return revocation.signal;
}

function haveSameRowScope(one: Principal | undefined, other: Principal | undefined): boolean {
  return JSON.stringify(one?.rowScope) === JSON.stringify(other?.rowScope);
}
