import type { Context } from 'koa';
import type { Gate } from '../access/gate.js';
import { PasswordGate } from '../access/password-gate.js';
import type { Health } from '../reading/health.js';
import { hasRole, type Viewer } from '../access/viewer.js';

/** Whose page it is, and what its forms need. */
export interface Visit {
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
  readonly said?: string | null;
  /** What to offer; the routes check for themselves. */
  readonly may: { readonly operate: boolean; readonly delete: boolean };
}

export interface ViewerVisit extends Visit {
  readonly viewer: Viewer;
}

/** Of one’s own: the application may keep something of its own under any name. */
const place = Symbol('visit');

export function keepVisit(ctx: Context, visit: ViewerVisit): void {
  Object.assign(ctx.state, { [place]: visit });
}

/** `null` where nobody has come in. */
export function keptVisit(ctx: Context): ViewerVisit | null {
  return (ctx.state as { [place]?: ViewerVisit })[place] ?? null;
}

/** Throws where nobody has come in: routes behind the gate are not asked then. */
export function visitIn(ctx: Context): ViewerVisit {
  const visit = keptVisit(ctx);
  if (visit === null) throw new Error('A route was asked before the gate');
  return visit;
}

export const stranger: Visit = {
  viewer: null,
  canSignOut: false,
  formToken: () => '',
  version: '',
  may: { operate: false, delete: false },
};

/** `readOnly`: the dashboard has no forms but those of its session. */
export function visitOf(ctx: Context, gate: Gate, viewer: Viewer, readOnly: boolean): ViewerVisit {
  const may = {
    operate: !readOnly && hasRole(viewer, 'operator'),
    delete: !readOnly && hasRole(viewer, 'admin'),
  };
  return {
    viewer,
    get canSignOut() {
      return gate instanceof PasswordGate && gate.hasSession(ctx);
    },
    formToken: () => gate.formToken(ctx, viewer),
    version: `${gate.formVersion}.${Number(may.operate)}${Number(may.delete)}`,
    may,
  };
}
