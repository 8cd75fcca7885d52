import type { Context } from 'koa';
import type { Gate } from '../access/gate.js';
import { PasswordGate } from '../access/password-gate.js';
import type { Layout } from './layout.js';
import { Problem } from './problem.js';
import { askToSignIn } from './sign-in.js';

/** Answers a request that the gate keeps out: with the sign-in form, where there is one. */
export function refuse(ctx: Context, gate: Gate, layout: Layout, inside: string): void {
  if (gate instanceof PasswordGate) {
    return askToSignIn(ctx, gate, layout, { next: inside.slice(1) + ctx.search, wrong: false });
  }
  throw gate.denial === 'forbidden' ? forbidden : closed;
}

const forbidden = new Problem({
  status: 403,
  title: 'You may not look at this dashboard',
  text: 'The application that it belongs to does not let you in.',
});

const closed = new Problem({
  status: 403,
  title: 'This dashboard is closed',
  text:
    'Nobody has said yet who may look at it. Give it a password (DASHBOARD_PASSWORD), or an authorize function where ' +
    'it is mounted as a library. Until then it serves only clients on its own machine, outside production, without a proxy in between.',
});
