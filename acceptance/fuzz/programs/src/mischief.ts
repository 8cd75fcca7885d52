import { setTimeout as sleep } from 'node:timers/promises';
import { CancelJob, defineJob, handleJob, type JobContext, SnoozeJob } from '@longshore/jobs';
import Type, { type Static } from 'typebox';
import { oddThings, throwables } from './odd-things.js';

const args = Type.Object(
  {
    act: Type.Enum(['return', 'throw', 'snooze', 'cancel', 'log', 'progress', 'wait', 'odd-result']),
    value: Type.Optional(Type.Unknown()),
    number: Type.Optional(Type.Number()),
    which: Type.Optional(Type.Integer({ minimum: 0, maximum: 50 })),
  },
  { additionalProperties: false },
);

type Act = Static<typeof args>['act'];
type Context = JobContext<Static<typeof args>>;

const acts: Readonly<Record<Act, (context: Context) => unknown>> = {
  return: ({ args: { value } }) => value,
  'odd-result': ({ args: { which = 0 } }) => oddThings[which % oddThings.length]?.(),
  throw: ({ args: { which = 0 } }) => {
    throw throwables[which % throwables.length]?.() as Error; // a handler can throw anything
  },
  snooze: ({ args: { number = 0 }, job }) => {
    if (job.attempt > 3) return null;
    throw new SnoozeJob(Math.abs(number));
  },
  cancel: ({ args: { value } }) => {
    throw new CancelJob(String(value));
  },
  log: ({ args: { value, which = 0 }, log }) => {
    for (let line = 0; line < which; line += 1) log.info(JSON.stringify(value) ?? '', { value });
  },
  progress: ({ args: { value, number = 0 }, progress }) => {
    progress(number, JSON.stringify(value));
  },
  wait: async ({ args: { number = 0 }, signal }) => {
    await sleep(Math.min(Math.abs(number), 500), undefined, { signal });
  },
};

/** A job whose arguments select how the handler misbehaves. */
const mischief = defineJob({
  name: 'mischief',
  queue: 'mischief',
  args,
  maxAttempts: 3,
  retryDelay: [50],
});

export const mischiefHandler = handleJob(mischief, (context) => acts[context.args.act](context));
