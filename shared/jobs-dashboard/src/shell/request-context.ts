import type { Context } from 'koa';
import { type Authenticator, hasRole, type Viewer } from '../auth/authenticator.js';
import type { Health } from '../diagnosis/health.js';
import type { InstallationState } from '@longshore/jobs/storage';

/** The sender of a request, and the data for the page's header and forms. */
export interface RequestContext {
  /** The viewer; `null` if the client is not authenticated. The page then has no navigation. */
  readonly viewer: Viewer | null;
  readonly canSignOut: boolean;
  /** Returns the token for the page's forms. Not called for pages without forms. */
  readonly formToken: () => string;
  /** Changes when the forms on open pages must be renewed. */
  readonly version: string;
  /** The overall state; missing or `null` if unknown. */
  readonly health?: Health | null;
  /** The state of the installation; missing or `null` if unknown. */
  readonly installation?: InstallationState | null;
  /** The flash message to show; missing or `null` if there is none. */
  readonly flash?: string | null;
  /** Which actions to show. This is not a security check: routes check the role themselves. */
  readonly may: { readonly operate: boolean; readonly delete: boolean };
  readonly requireReasons: boolean;
}

interface ViewerContext extends RequestContext {
  readonly viewer: Viewer;
}

/** The key of the context in `ctx.state`. A symbol cannot clash with keys of the host application. */
const contextKey = Symbol('request context');

/** Returns the context of a request; `null` if the client is not authenticated. */
export function findRequestContext(ctx: Context): ViewerContext | null {
  return (ctx.state as { [contextKey]?: ViewerContext })[contextKey] ?? null;
}

/**
 * Returns the context of an authenticated request.
 *
 * @throws {Error} if the client is not authenticated
 */
export function requestContextOf(ctx: Context): ViewerContext {
  const requestContext = findRequestContext(ctx);
  if (requestContext === null) throw new Error('A route was reached without authentication');
  return requestContext;
}

export const anonymous: RequestContext = {
  viewer: null,
  canSignOut: false,
  formToken: () => '',
  version: '',
  may: { operate: false, delete: false },
  requireReasons: false,
};

interface ContextOptions extends Required<
  Pick<RequestContext, 'requireReasons' | 'health' | 'installation' | 'flash'>
> {
  /** Hides all actions. */
  readonly readOnly: boolean;
}

/** Sets the context of an authenticated request. */
export function setRequestContext(
  ctx: Context,
  authenticator: Authenticator,
  viewer: Viewer,
  { readOnly, ...shown }: ContextOptions,
): void {
  const may = {
    operate: !readOnly && hasRole(viewer, 'operator'),
    delete: !readOnly && hasRole(viewer, 'admin'),
  };
  const requestContext: ViewerContext = {
    viewer,
    get canSignOut() {
      return authenticator.hasSession(ctx);
    },
    formToken: () => authenticator.formToken(ctx, viewer),
    version: `${authenticator.formVersion}.${Number(may.operate)}${Number(may.delete)}`,
    may,
    ...shown,
  };
  Object.assign(ctx.state, { [contextKey]: requestContext });
}
