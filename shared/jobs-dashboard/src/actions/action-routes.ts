import type { Router, RouterContext } from '@koa/router';
import type { OperableStorage } from '@longshore/jobs/operations';
import type { Context } from 'koa';
import { type Authenticator, hasRole, type Viewer } from '../auth/authenticator.js';
import { formatCount } from '../format/count.js';
import { pathParameters } from '../http/address.js';
import { FieldErrors, Problem } from '../http/problem.js';
import { checkForm, readForm } from '../shell/form.js';
import type { Layout } from '../shell/layout.js';
import type { Rejected } from '../shell/page.js';
import { requestContextOf } from '../shell/request-context.js';
import {
  type Action,
  type ActionRecord,
  type ActionRequest,
  type ActionResult,
  reasonField,
} from './action.js';
import { actions } from './actions.js';

interface ActionContext {
  readonly control: OperableStorage;
  readonly authenticator: Authenticator;
  readonly layout: Layout;
  /** Clears the cache of reads. Called after each action, so that pages show the new state. */
  readonly clearCache: () => void;
  readonly now: () => number;
  readonly redact: RegExp;
  readonly requireReasons: boolean;
  readonly onAction: (record: ActionRecord) => void;
  readonly jobs: ActionRequest['jobs'];
  readonly definitions: ActionRequest['definitions'];
  /** Shows the page of a form again with what was entered. Returns `false` if the form has no page of its own. */
  readonly showAgain: (ctx: RouterContext, path: string, rejected: Rejected) => Promise<boolean>;
}

/**
 * Serves action forms: checks the viewer's role, the origin and the form token, carries out the
 * action, and redirects with status 303.
 */
export function serveActions(router: Router, context: ActionContext): void {
  const { control, authenticator, layout, clearCache, now, redact, requireReasons, onAction } = context;
  const { jobs, definitions, showAgain } = context;
  const read = readForm('64kb');
  const once = new Once<string>(now);
  for (const action of actions) {
    const { role, isReasoned = false } = action.operation;
    router.post(action.path, read, async (ctx) => {
      const { viewer } = requestContextOf(ctx);
      if (!hasRole(viewer, role)) throw notAllowed(role);
      const form = checkForm(ctx, authenticator, viewer);
      const target = pathParameters(action.path, ctx.params)['target'] ?? '';
      const reason = reasonField(form, requireReasons && isReasoned);
      const request = {
        target,
        form,
        viewer,
        address: ctx.ip,
        reason,
        nowMs: now(),
        redact,
        jobs,
        definitions,
      };
      const submit = async (): Promise<string> => {
        try {
          const carryOut = await action.read(request);
          const result = await carryOut(control);
          onAction(result.record);
          return redirectWithFlash(result, action, (message) =>
            authenticator.signFlash(ctx, viewer, message),
          );
        } finally {
          // Also clears the cache after a failure, because the action might have taken effect.
          clearCache();
        }
      };
      try {
        const next = await once.do(JSON.stringify([action.path, target, form.toString()]), submit);
        ctx.status = 303;
        ctx.set('Location', layout.links(ctx)(next));
      } catch (error) {
        if (!isInForm(error) || !(await showAgain(ctx, action.path, { form, errors: errorsOf(error) })))
          throw error;
        ctx.status = error.content.status;
      }
    });
  }
}

/** Returns whether an error is one of what was entered, rather than of the action. */
function isInForm(error: unknown): error is Problem {
  return error instanceof FieldErrors || (error instanceof Problem && error.content.status === 422);
}

function errorsOf(error: Problem): ReadonlyMap<string, string> {
  return error instanceof FieldErrors ? error.errors : new Map([['', error.content.text]]);
}

function notAllowed(role: string): Problem {
  return new Problem({
    status: 403,
    title: 'You are not allowed to do this',
    text: `This requires the role ${role}. Nothing was changed.`,
  });
}

/** A submission that is repeated within this time, in milliseconds, counts as a double click. */
const MEMORY_MS = 10_000;

/**
 * Carries out the action of a form only once, even if the same form is submitted several times in quick succession.
 * After a failure, the form can be submitted again.
 */
class Once<Result> {
  readonly #now: () => number;
  readonly #done = new Map<string, { readonly result: Promise<Result>; readonly at: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  do(key: string, act: () => Promise<Result>): Promise<Result> {
    this.#forget();
    const submission = this.#done.get(key);
    if (submission !== undefined) return submission.result;
    const result = act();
    this.#done.set(key, { result, at: this.#now() });
    result.catch(() => this.#done.delete(key));
    return result;
  }

  #forget(): void {
    for (const [key, { at }] of this.#done) {
      if (this.#now() - at < MEMORY_MS) break;
      this.#done.delete(key);
    }
  }
}

const PARAMETER = 'done';
const NOTHING_CHANGED = 'No change was needed.';

/**
 * Returns the path of the page to show after an action. If the operation has a message, adds a signed parameter that
 * identifies it.
 */
function redirectWithFlash(
  { next, changed, record }: Pick<ActionResult, 'next' | 'changed' | 'record'>,
  { path, operation }: Action,
  sign: (message: string) => string,
): string {
  if (operation.message === undefined) return next;
  const flash = sign(`${changed ? (record.count ?? 1) : 0} ${path}`);
  return `${next}${next.includes('?') ? '&' : '?'}${PARAMETER}=${encodeURIComponent(flash)}`;
}

/** Returns the flash message from the page's URL; `null` if there is none or its signature is not valid. */
export function flashMessageOf(ctx: Context, authenticator: Authenticator, viewer: Viewer): string | null {
  const token = new URLSearchParams(ctx.querystring).get(PARAMETER);
  const message = token === null ? null : authenticator.readFlash(ctx, viewer, token);
  if (message === null) return null;
  const [count, path = ''] = message.split(' ', 2);
  if (count === '0') return NOTHING_CHANGED;
  const { operation } = actions.find((action) => action.path === path) ?? {};
  if (operation?.message === undefined) return null;
  if (operation.on !== 'jobs' || count === '1') return operation.message;
  return `${operation.message} With its dependents, ${formatCount({ count: Number(count), exact: true })} jobs changed.`;
}
