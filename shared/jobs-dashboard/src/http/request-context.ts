import type { Context } from 'koa';
import type { Authenticator } from '../auth/authenticator.js';
import { PasswordAuthenticator } from '../auth/password-authenticator.js';
import type { Health } from '../diagnosis/health.js';
import { hasRole, type Viewer } from '../auth/viewer.js';

/** Whose page it is, and what its forms need. */
export interface RequestContext {
  /** `null` where nobody has come in: the page has no navigation then. */
  readonly viewer: Viewer | null;
  readonly canSignOut: boolean;
  /** Made when a form is: most answers have none. */
  readonly formToken: () => string;
  /** Another one when the forms of the same page are to be made anew. */
  readonly version: string;
  /** How the store does; left out where it is not known. */
  readonly health?: Health | null;
  /** What the form that led here has done; left out if none has. */
  readonly flash?: string | null;
  /** What to offer; the routes check for themselves. */
  readonly may: { readonly operate: boolean; readonly delete: boolean };
}

export interface ViewerContext extends RequestContext {
  readonly viewer: Viewer;
}

/** Of one’s own: the application may keep something of its own under any name. */
const place = Symbol('visit');

export function setRequestContext(ctx: Context, requestContext: ViewerContext): void {
  Object.assign(ctx.state, { [place]: requestContext });
}

/** `null` where nobody has come in. */
export function findRequestContext(ctx: Context): ViewerContext | null {
  return (ctx.state as { [place]?: ViewerContext })[place] ?? null;
}

/** Throws where nobody has come in: routes behind the gate are not asked then. */
export function requestContextOf(ctx: Context): ViewerContext {
  const requestContext = findRequestContext(ctx);
  if (requestContext === null) throw new Error('A route was asked before the gate');
  return requestContext;
}

export const anonymous: RequestContext = {
  viewer: null,
  canSignOut: false,
  formToken: () => '',
  version: '',
  may: { operate: false, delete: false },
};

/** `readOnly`: the dashboard has no forms but those of its session. */
export function createRequestContext(
  ctx: Context,
  authenticator: Authenticator,
  viewer: Viewer,
  readOnly: boolean,
): ViewerContext {
  const may = {
    operate: !readOnly && hasRole(viewer, 'operator'),
    delete: !readOnly && hasRole(viewer, 'admin'),
  };
  return {
    viewer,
    get canSignOut() {
      return authenticator instanceof PasswordAuthenticator && authenticator.hasSession(ctx);
    },
    formToken: () => authenticator.formToken(ctx, viewer),
    version: `${authenticator.formVersion}.${Number(may.operate)}${Number(may.delete)}`,
    may,
  };
}
