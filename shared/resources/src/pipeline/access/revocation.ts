import type { Principal } from '../../definition/call-context.js';
import { ApiError } from '../../errors/api-error.js';
import type { ApiRequest } from '../request/request.js';
import { type Authenticate, authenticateWith } from './authentication.js';
import { requireScope } from './scope.js';

const defaultRecheckMs = 30_000;

/** The access that a caller had when an event stream was opened, and how to check that the caller still has it. */
export interface StreamGrant {
  readonly authenticate: Authenticate;
  readonly principal: Principal | undefined;
  /** The scope that the stream requires. */
  readonly scope: string;
  /** Interval between checks, in milliseconds; default 30 000. */
  readonly recheckMs?: number | undefined;
}

/**
 * Returns the signal that ends an event stream. It aborts when the request is aborted, when the caller loses access, or
 * when the caller's row scope changes. If authentication is unavailable, the stream stays open.
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
