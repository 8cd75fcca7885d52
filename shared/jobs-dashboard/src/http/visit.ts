import type { Context } from 'koa';
import type { Gate } from '../access/gate.js';
import { PasswordGate } from '../access/password-gate.js';
import { hasRole, type Viewer } from '../access/viewer.js';

/** Whose page it is, and what its forms need. */
export interface Visit {
  /** `null` where nobody has come in: the page has no navigation then. */
  readonly viewer: Viewer | null;
  readonly canSignOut: boolean;
  readonly formToken: string;
  /** What to offer; the routes check for themselves. */
  readonly may: { readonly operate: boolean; readonly delete: boolean };
}

export interface ViewerVisit extends Visit {
  readonly viewer: Viewer;
}

export const stranger: Visit = {
  viewer: null,
  canSignOut: false,
  formToken: '',
  may: { operate: false, delete: false },
};

/** `readOnly`: the dashboard has no forms but those of its session. */
export function visitOf(ctx: Context, gate: Gate, viewer: Viewer, readOnly: boolean): ViewerVisit {
  return {
    viewer,
    canSignOut: gate instanceof PasswordGate && gate.hasSession(ctx),
    /** Made when a page needs it: most answers are 304. */
    get formToken() {
      return gate.formToken(ctx, viewer);
    },
    may: { operate: !readOnly && hasRole(viewer, 'operator'), delete: !readOnly && hasRole(viewer, 'admin') },
  };
}
