import { TooManyStepsError } from '../../job/errors.js';
import type { JsonText } from '../../job/json.js';
import type { JobSignal, NewStep, Step, StepHistory, StepKind } from '../../job/step.js';

const verbs: Readonly<Record<StepKind, string>> = {
  step: 'a step',
  sleep: 'a sleep',
  wait: 'a wait for a signal',
  job: 'a wait for a job',
  version: 'a version',
};

/** Maximum number of steps of a job. */
export const maxSteps = 10_000;

/** How many bytes the results of a job's steps may take, as JSON, before no further step starts. */
export const maxStepsBytes = 67_108_864;

/** The stored steps and signals of a job, as one attempt uses them. */
export class StoredSteps {
  readonly #steps: ReadonlyMap<string, Step>;
  /** The names by position; the attempt has come to all of them before `#next`. */
  readonly #names: readonly string[];
  #next = 0;
  readonly #signals: readonly JobSignal[];
  readonly #used = new Set<string>();
  /** Whether each stored step had ended when the next one started, so that their order means something. */
  readonly #isSequential: boolean;
  readonly #warn: (message: string) => void;
  #hasWarned = false;
  #lastPosition: number;
  /** How many steps the job has, with those that this attempt has started, and how many bytes their results take. */
  #count: number;
  #bytes = 0;

  constructor({ steps, signals }: StepHistory, warn: (message: string) => void) {
    this.#steps = new Map(steps.map((step) => [step.name, step]));
    this.#names = [...this.#steps.keys()];
    this.#count = steps.length;
    for (const { result } of steps) if (result !== null) this.addResult(JSON.stringify(result));
    this.#signals = signals;
    this.#warn = warn;
    this.#lastPosition = steps.at(-1)?.position ?? 0;
    this.#isSequential = steps.every((step, index) => {
      const before = steps[index - 1];
      return before === undefined || (before.finishedAt !== null && before.finishedAt <= step.startedAt);
    });
  }

  /**
   * Returns the stored step of this name; `null` if there is none.
   *
   * @throws {TypeError} if it is of another kind
   */
  use(name: string, kind: StepKind): Step | null {
    const stored = this.#steps.get(name) ?? null;
    if (stored === null) return null;
    if (stored.kind !== kind)
      throw new TypeError(
        `"${name}" was ${verbs[stored.kind]} when this job ran before, and now it is ${verbs[kind]}: give the new one another name`,
      );
    this.#checkOrder(stored);
    this.#used.add(name);
    return stored;
  }

  /** Returns the signals of this name, in the order in which they arrived. */
  signals(name: string): readonly JobSignal[] {
    return this.#signals.filter((signal) => signal.name === name);
  }

  /** Whether the job has steps that this attempt has not come to yet, so that an earlier one was further. */
  get hasUnused(): boolean {
    return this.#used.size < this.#steps.size;
  }

  /** Counts a result that this attempt has stored. */
  addResult(result: JsonText): void {
    if (result !== 'null') this.#bytes += Buffer.byteLength(result);
  }

  /**
   * Returns a new step with the members that most of them have.
   *
   * @throws {TooManyStepsError} if it is not stored, and the job has too many steps or their results take too much space
   */
  start(stored: Step | null, step: Pick<NewStep, 'name' | 'kind'> & { readonly now: Date }): NewStep {
    const { name, kind, now } = step;
    if (stored === null) this.#addStep(name);
    return {
      name,
      kind,
      state: 'waiting',
      position: stored?.position ?? ++this.#lastPosition,
      result: 'null',
      error: null,
      isRemembered: true,
      attempts: 0,
      until: stored?.until ?? null,
      signals: stored?.signals ?? null,
      childId: stored?.childId ?? null,
      input: null,
      startedAt: stored?.startedAt ?? now,
      finishedAt: null,
    };
  }

  /** Every attempt reads all of them, and holds them in memory. */
  #addStep(name: string): void {
    const isFull = this.#count >= maxSteps;
    if (isFull || this.#bytes >= maxStepsBytes) {
      const why = isFull
        ? `the job has ${maxSteps} steps, the most that a job can have`
        : `the results of the job's steps take ${this.#bytes} bytes, and no step starts once they take ${maxStepsBytes}`;
      const remedy = isFull ? '' : ', or store large results elsewhere and return where they are';
      throw new TooManyStepsError(
        `The step "${name}" cannot start, because ${why}: split the job, with enqueueAndWait for each part${remedy}`,
      );
    }
    this.#count++;
  }

  #checkOrder({ name, position }: Step): void {
    if (!this.#isSequential || this.#hasWarned) return;
    while (this.#used.has(this.#names[this.#next] ?? '')) this.#next++;
    const skipped = this.#steps.get(this.#names[this.#next] ?? '');
    if (skipped === undefined || skipped.position >= position) return;
    this.#hasWarned = true;
    this.#warn(
      `The step "${name}" now runs before "${skipped.name}", or without it: they ran in the other order before. If the code has changed, pin the old order with step.version`,
    );
  }
}
