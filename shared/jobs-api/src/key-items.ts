import type { Job } from '@longshore/jobs';
import { bounds, conflictPolicies, jobStates, maxTokens } from '@longshore/jobs/storage';
import Type, { type Static } from 'typebox';
import { integer, nullable, text } from './fields.js';

const rateNumber = { min: 1, max: maxTokens };
const rateFields = {
  jobs: integer(rateNumber, 'How many jobs with this key start in each period'),
  periodMs: integer({ min: 1, max: 86_400_000 }, 'The length of the period, in milliseconds'),
};

/** The concurrency key of a job, with its limits. */
export const ConcurrencyItem = Type.Object(
  {
    key: text(bounds.keyLength, 'The concurrency key'),
    limit: integer(bounds.concurrencyLimit, 'How many jobs with this key run at once'),
    rate: nullable(
      Type.Object(
        { ...rateFields, burst: integer(rateNumber, 'How many can start at once after a pause') },
        { description: 'How many jobs with this key start when; null if nothing limits it' },
      ),
    ),
  },
  { description: 'Limits the jobs of the queue with this key; null if nothing does' },
);

/** The concurrency key in a request body. */
export const NewConcurrency = Type.Object(
  {
    key: text(bounds.keyLength, 'The concurrency key, such as the ID of a tenant'),
    limit: Type.Optional(
      integer(
        bounds.concurrencyLimit,
        'How many jobs with this key run at once; required unless there is a `rate`, and then 10,000 by default',
      ),
    ),
    rate: Type.Optional(
      Type.Object(
        {
          ...rateFields,
          burst: Type.Optional(
            integer(rateNumber, 'How many can start at once after a pause; `jobs` by default'),
          ),
        },
        { additionalProperties: false, description: 'How many jobs with this key start when' },
      ),
    ),
  },
  {
    additionalProperties: false,
    description: 'Limits how many jobs of the queue with this key run at once, and how many start when',
  },
);

/** Returns the concurrency key of a job as the API shows it. */
export function concurrencyOf(job: Job): Static<typeof ConcurrencyItem> | null {
  const { concurrencyKey, concurrencyLimit, concurrencyRate } = job;
  return concurrencyKey === null || concurrencyLimit === null
    ? null
    : { key: concurrencyKey, limit: concurrencyLimit, rate: concurrencyRate };
}

const unique = {
  key: text(bounds.keyLength, 'The unique key'),
  periodMs: integer(
    bounds.periodMs,
    'How long the key is held, in milliseconds; by default, as long as the job is in one of `states`',
  ),
  states: Type.Array(Type.Enum([...jobStates]), {
    minItems: 1,
    maxItems: jobStates.length,
    description:
      'The states in which the job holds the key; by default, all unfinished ones. Finished states require `periodMs`',
  }),
};

/** The unique key of a job, as the API shows it. */
export const UniquenessItem = Type.Object(
  {
    key: unique.key,
    periodMs: nullable(
      integer(
        bounds.periodMs,
        'How long it holds the key after `createdAt`, in milliseconds; null if only `states` matter',
      ),
    ),
    states: Type.Array(Type.Enum([...jobStates]), {
      maxItems: jobStates.length,
      description: 'The states in which it holds the key',
    }),
    onConflict: Type.Enum([...conflictPolicies], {
      description: 'What was to happen if another job had held the key when this one was enqueued',
    }),
  },
  { description: 'The unique key that it was enqueued with; null if it had none' },
);

/** The unique key in a request body that enqueues a job. */
export const NewUniqueness = Type.Object(
  {
    key: unique.key,
    periodMs: Type.Optional(unique.periodMs),
    states: Type.Optional(unique.states),
    onConflict: Type.Optional(
      Type.Enum([...conflictPolicies], {
        description:
          'What happens if another job holds the key: `keep` (the default) returns that job, `replace` also gives it the new arguments, priority, time, attempts and tags unless it is running or finished, `reject` answers 409',
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'Creates no job while another one of this name in the queue holds the key; the response is that job or, with `reject`, 409',
  },
);

/** The unique key of the jobs of a recurring job, both in request bodies and as the API shows it, with its defaults filled in. */
export const RecurringUniqueness = Type.Object(
  {
    key: unique.key,
    periodMs: Type.Optional(nullable(unique.periodMs)),
    states: Type.Optional(unique.states),
    onConflict: Type.Optional(
      Type.Enum([...conflictPolicies], {
        description:
          'What happens to the job that holds the key: `keep` (the default) and `reject` leave it as it is, `replace` gives it the arguments, priority, attempts and tags of the new job unless it is running or finished',
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'It enqueues no job while another one of this name in the queue holds the key; such due times are missed, and triggering it is a 409',
  },
);
