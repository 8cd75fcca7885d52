import { ManualClock } from '@longshore/test-support';
import { expect } from 'chai';
import fc from 'fast-check';
import { JobClient, MemoryStorage, type StepContext, type StepOptions } from '../src/index.js';
import type { ClaimedJob, Outcome } from '../src/job/job.js';
import type { BeginTransaction } from '../src/memory/memory-claims.js';
import { JobSteps } from '../src/server/steps/job-steps.js';
import type { Steps } from '../src/storage/steps.js';
import { defineJob } from '../src/index.js';

/** A handler as data: what it does one after another, and in parallel. */
type Plan =
  | { readonly kind: 'step'; readonly failures: number; readonly transaction: boolean; readonly own: boolean }
  | { readonly kind: 'caught' }
  | { readonly kind: 'sleep' }
  | { readonly kind: 'wait'; readonly comes: boolean }
  | { readonly kind: 'both'; readonly plans: readonly Plan[] };

const leaves: fc.Arbitrary<Plan> = fc.oneof(
  fc.record({
    kind: fc.constant('step' as const),
    failures: fc.integer({ min: 0, max: 2 }),
    transaction: fc.boolean(),
    own: fc.boolean(),
  }),
  fc.constant({ kind: 'caught' as const }),
  fc.constant({ kind: 'sleep' as const }),
  fc.record({ kind: fc.constant('wait' as const), comes: fc.boolean() }),
);
const plans: fc.Arbitrary<readonly Plan[]> = fc.array(
  fc.oneof(
    leaves,
    fc.record({
      kind: fc.constant('both' as const),
      plans: fc.array(leaves, { minLength: 1, maxLength: 3 }),
    }),
  ),
  { minLength: 1, maxLength: 5 },
);

/** What goes wrong with each write of a step, in turn. */
type Fault = 'none' | 'lost before' | 'lost after';
const faults = fc.array(fc.constantFrom<Fault>('none', 'none', 'lost before', 'lost after'), {
  maxLength: 12,
});

const hourMs = 3_600_000;
const work = defineJob({ name: 'work', queue: 'work', maxAttempts: 1_000 });

/** Returns what the handler returns if nothing goes wrong: the reference. */
function expected(plan: Plan, name: string, world: World): unknown {
  switch (plan.kind) {
    case 'step':
      return 'result';
    case 'caught':
      return world.decided.has(name) ? 'Refused: no' : 'done later';
    case 'sleep':
      return 'slept';
    case 'wait':
      return plan.comes ? 'data' : null;
    case 'both':
      return plan.plans.map((each, index) => expected(each, `${name}.${index}`, world));
  }
}

/** What the works of steps have done outside of the store. */
class World {
  readonly tries = new Map<string, number>();
  readonly committed = new Map<string, number>();
  /** The steps after whose errors the handler has gone on. */
  readonly decided = new Set<string>();

  count(where: Map<string, number>, name: string): number {
    const count = (where.get(name) ?? 0) + 1;
    where.set(name, count);
    return count;
  }
}

async function play(plan: Plan, name: string, context: StepContext, world: World): Promise<unknown> {
  switch (plan.kind) {
    case 'step': {
      const options: StepOptions = plan.own ? { maxAttempts: 10, retryDelay: [hourMs] } : {};
      const run = (): string => {
        if (world.count(world.tries, name) <= plan.failures) throw new Error('not yet');
        return 'result';
      };
      if (!plan.transaction) return context.step(name, run, options as StepOptions & { transaction?: false });
      return context.step(
        name,
        async ({ client }) => {
          const result = run();
          await client.query(name);
          return result;
        },
        { ...options, transaction: true },
      );
    }
    case 'caught':
      return context
        .step(name, () => {
          if (world.decided.has(name)) throw new Error(`${name} ran again after its error had been caught`);
          if (world.count(world.tries, name) > 1) return 'done later';
          throw Object.assign(new Error('no'), { name: 'Refused' });
        })
        .catch(async (error: unknown) => {
          if ((error as Error).name !== 'Refused') throw error;
          await context.step(`${name}:then`, () => void world.decided.add(name));
          return `${(error as Error).name}: ${(error as Error).message}`;
        });
    case 'sleep':
      await context.sleep(name, { ms: hourMs });
      return 'slept';
    case 'wait':
      return context.waitFor(name, { timeoutMs: 50 * hourMs });
    case 'both':
      return Promise.all(plan.plans.map((each, index) => play(each, `${name}.${index}`, context, world)));
  }
}

describe('A handler with steps, whatever goes wrong', () => {
  it('ends as if nothing had, and never runs a stored step again', async () => {
    await fc.assert(
      fc.asyncProperty(plans, faults, async (program, planned) => {
        const pending = [...planned];
        const world = new World();
        const clock = new ManualClock();
        const begin: BeginTransaction = async (inTransaction) => {
          const written: string[] = [];
          const query = async (text: string): Promise<{ rows: [] }> => {
            written.push(text);
            return { rows: [] };
          };
          const result = await inTransaction({ query });
          for (const name of written) world.count(world.committed, name);
          return result;
        };
        const storage = new MemoryStorage({ clock, transaction: begin });
        const client = new JobClient(storage);
        const { id } = await client.enqueue(work);
        const signals = names(program).filter(({ plan }) => plan.kind === 'wait' && plan.comes);
        let stale: (() => Promise<void>)[] = [];

        const attempt = async (job: ClaimedJob): Promise<Outcome | 'lost'> => {
          let lose: () => void = () => undefined;
          const lost = new Promise<'lost'>((resolve) => (lose = () => resolve('lost')));
          const isGone = new Promise<never>(() => undefined);
          const faulty: Steps = {
            read: (of) => storage.steps.read(of),
            signal: (...given) => storage.steps.signal(...given),
            rerunFrom: (...given) => storage.steps.rerunFrom(...given),
            listCorrelated: (...given) => storage.steps.listCorrelated(...given),
            record: async (claim, steps) => {
              for (const { name, kind } of steps) await requireNew(storage, id, name, kind);
              const fault = pending.shift() ?? 'none';
              if (fault === 'lost before') {
                // The write arrives when another attempt runs.
                stale.push(() => storage.steps.record(claim, steps));
                lose();
                return isGone;
              }
              await storage.steps.record(claim, steps);
              if (fault === 'none') return;
              lose();
              return isGone;
            },
            recordInTransaction: async (claim, run, signal) => {
              const fault = pending.shift() ?? 'none';
              if (fault === 'lost before') {
                lose();
                return isGone;
              }
              await storage.steps.recordInTransaction(claim, run, signal);
              if (fault === 'none') return;
              lose();
              return isGone;
            },
          };
          const suspended = new Promise<Outcome>((suspend) => {
            const steps = new JobSteps({
              claim: job.claim,
              store: faulty,
              jobs: storage.jobs,
              clock,
              client,
              retryRules: {},
              toResult: (value) => JSON.stringify(value ?? null),
              signal: new AbortController().signal,
              abandoned: new AbortController().signal,
              warn: () => undefined,
              isInTransaction: () => false,
              suspend,
            });
            void run(steps).then(suspend);
          });
          async function run(steps: JobSteps): Promise<Outcome> {
            try {
              const results: unknown[] = [];
              for (const [index, plan] of program.entries())
                results.push(await play(plan, String(index), steps, world));
              await steps.end();
              return { kind: 'done', result: JSON.stringify(results) };
            } catch (error) {
              await steps.end({ error });
              return {
                kind: 'retry',
                error: { name: 'Error', message: String(error), stack: null },
                delayMs: 0,
              };
            }
          }
          return Promise.race([suspended, lost]);
        };

        for (let rounds = 0; (await storage.jobs.find(id))?.state !== 'done'; rounds++) {
          expect(rounds, 'rounds').to.be.lessThan(500);
          const server = await storage.servers.register({
            host: 'test',
            pid: 1,
            queues: ['work'],
            concurrency: 1,
            timeoutMs: 30_000,
          });
          const [job] = await storage.claims.claim({
            serverId: server.id,
            queue: 'work',
            limit: 1,
            leaseMs: 30_000,
          });
          if (job !== undefined) {
            // Writes of attempts that are over come while the next one runs, and must change nothing.
            for (const write of stale)
              expect(
                await write().then(
                  () => 'stored',
                  () => 'refused',
                ),
              ).to.equal('refused');
            stale = [];
          }
          const outcome = job === undefined ? 'lost' : await attempt(job);
          if (job !== undefined && outcome !== 'lost')
            expect(
              await storage.completions.complete([{ claim: job.claim, outcome, hasMeta: true }]),
            ).to.deep.equal([]);
          await server.unregister();
          const [signal] = signals;
          if (rounds % 3 === 2 && signal !== undefined) {
            signals.shift();
            await client.sendSignal(id, signal.name, 'data');
          }
          if (job === undefined) clock.advance(hourMs);
          await storage.maintenance.promoteDue(10);
        }

        const done = await storage.jobs.find(id);
        expect(JSON.stringify(done?.result)).to.equal(
          JSON.stringify(program.map((plan, index) => expected(plan, String(index), world))),
        );
        for (const { plan, name } of names(program))
          if (plan.kind === 'step' && plan.transaction) expect(world.committed.get(name), name).to.equal(1);
        await storage.close();
      }),
      { numRuns: 300, ...(process.env['SEED'] !== undefined && { seed: Number(process.env['SEED']) }) },
    );
  }).timeout(60_000);
});

/** Returns all plans of a program with the names of their steps. */
function names(program: readonly Plan[], prefix = ''): { plan: Plan; name: string }[] {
  return program.flatMap((plan, index) => {
    const name = `${prefix}${index}`;
    return plan.kind === 'both' ? names(plan.plans, `${name}.`) : [{ plan, name }];
  });
}

/** @throws {Error} if the result of a step is stored already, so that its work must not have run */
async function requireNew(storage: MemoryStorage, id: string, name: string, kind: string): Promise<void> {
  const { steps } = await storage.steps.read({ id });
  const stored = steps.find((step) => step.name === name);
  if (kind === 'step' && stored?.state === 'done') throw new Error(`The step "${name}" ran again`);
}
