import type { JsonValue } from '@longshore/jobs';
import type { Claim, NewStep } from '@longshore/jobs/storage';
import { SEED_TIMEOUT_MS, type SeededStorage } from './seeded-storage.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** Jobs with steps. */
export interface SteppedJobs {
  /** A suspended job that waits for the signal `approval` after several steps. */
  readonly waitingId: string;
  /** A job that has failed in the step `ship`, and may be run again from any of its steps. */
  readonly failedId: string;
  /** A job whose handler sleeps. */
  readonly sleepingId: string;
}

/** Enqueues jobs whose handlers use steps, and runs them until they wait or have failed. */
export async function seedSteps(storage: SeededStorage): Promise<SteppedJobs> {
  const { manualClock: clock } = storage;
  const server = await storage.servers.register({
    host: 'worker-5',
    pid: 55,
    queues: ['fulfilment'],
    concurrency: 1,
    timeoutMs: SEED_TIMEOUT_MS,
  });
  const ids: string[] = [];
  for (const order of [90_071, 90_072, 90_073]) {
    const id = await storage.add({ name: 'fulfil-order', queue: 'fulfilment', args: { order } });
    ids.push(id);
    const { claim } = await storage.start(server.id, 'fulfilment');
    const steps = stepsOf(storage, claim);
    await steps.end('charge', { id: 'payment-7', cardToken: 'tok_visa_4242' }, { attempts: 2 });
    await storage.steps.signal(id, {
      name: 'parcel',
      data: { lost: true, password: 'hunter2' },
      sentBy: 'ada',
    });
    clock.advance(3 * MINUTE);
    await steps.end('parcel', { lost: true, password: 'hunter2' }, { kind: 'wait', signals: 1 });
    if (order === 90_071) {
      await storage.steps.signal(id, { name: 'gift-note', data: 'Happy birthday' });
      await steps.wait('approval', { kind: 'wait', signals: 1, until: new Date(clock.now() + 2 * DAY) });
      await storage.completions.complete([
        {
          claim,
          outcome: {
            kind: 'suspend',
            until: new Date(clock.now() + 2 * DAY),
            awaits: { approval: 1 },
            cancels: [],
          },
        },
      ]);
    } else if (order === 90_072) {
      const error = { name: 'CarrierError', message: 'No van is free', stack: null };
      await steps.wait('ship', {
        state: 'failed',
        error,
        attempts: 1,
        isRemembered: false,
        finishedAt: new Date(clock.now()),
      });
      await storage.completions.complete([{ claim, outcome: { kind: 'failed', error } }]);
    } else {
      const until = new Date(clock.now() + DAY);
      await steps.wait('cool-off', { kind: 'sleep', until });
      await storage.completions.complete([
        { claim, outcome: { kind: 'suspend', until, awaits: {}, cancels: [] } },
      ]);
    }
    clock.advance(MINUTE);
  }
  const [waitingId = '', failedId = '', sleepingId = ''] = ids;
  return { waitingId, failedId, sleepingId };
}

/** Stores steps, each after the one before. */
function stepsOf({ steps, manualClock: clock }: SeededStorage, claim: Claim) {
  let position = 0;
  const store = async (name: string, members: Partial<NewStep>): Promise<void> => {
    const step: NewStep = {
      name,
      kind: 'step',
      state: 'waiting',
      position: ++position,
      result: 'null',
      error: null,
      isRemembered: true,
      attempts: 0,
      until: null,
      signals: null,
      childId: null,
      input: null,
      startedAt: new Date(clock.now()),
      finishedAt: null,
      ...members,
    };
    await steps.record(claim, [step]);
  };
  return {
    wait: store,
    end: async (name: string, result: JsonValue, members: Partial<NewStep> = {}): Promise<void> => {
      const startedAt = new Date(clock.now());
      clock.advance(20_000);
      const finishedAt = new Date(clock.now());
      await store(name, {
        state: 'done',
        result: JSON.stringify(result),
        startedAt,
        finishedAt,
        attempts: 1,
        ...members,
      });
    },
  };
}
