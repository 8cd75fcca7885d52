import { setTimeout as sleep } from 'node:timers/promises';
import { type Fault, pick, type Stage } from './stage.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Sizes of the clock errors, in milliseconds. */
const steps = [hourMs, 10 * dayMs, 365 * dayMs];

const inWords = (ms: number): string =>
  `${ms < 0 ? '−' : '+'}${Math.abs(ms) / (Math.abs(ms) < dayMs ? hourMs : dayMs)} ${Math.abs(ms) < dayMs ? 'h' : 'd'}`;

const eitherWay = (stepMs: number, random: () => number): number => (random() < 0.5 ? stepMs : -stepMs);

/**
 * Creates a fault that moves a random process's clock ahead or back by `stepMs`. The fault corrects the clock after 1.5
 * to 3.5 seconds.
 */
function clockSet(stepMs: number): Fault {
  return async ({ fleet, random }) => {
    const { processes } = fleet;
    const process = processes[pick(random, processes.length)] ?? '';
    const aheadMs = eitherWay(stepMs, random);
    await fleet.setClock(process, aheadMs);
    await sleep(1_500 + random() * 2_000);
    await fleet.setClock(process, 0);
    return { remark: `${process} ${inWords(aheadMs)}` };
  };
}

export const clockHour = clockSet(hourMs);
export const clockDays = clockSet(10 * dayMs);
export const clockYear = clockSet(365 * dayMs);

const anyStep = ({ random }: Stage): number => eitherWay(steps[pick(random, steps.length)] ?? 0, random);

/** Moves the clock of each process by its own random step. Corrects all clocks after 1.5 to 3.5 seconds. */
export const clocksApart: Fault = async (stage) => {
  const { fleet, random } = stage;
  await Promise.all(fleet.processes.map((process) => fleet.setClock(process, anyStep(stage))));
  await sleep(1_500 + random() * 2_000);
  await Promise.all(fleet.processes.map((process) => fleet.setClock(process, 0)));
  return {};
};

/**
 * Restarts a worker with a wrong clock, as after a power loss with a dead clock battery. Corrects the clock two seconds
 * later.
 */
export const startedWrong: Fault = (stage) =>
  stage.fleet.withWorkers(1, stage.random, async ([index = 0]) => {
    const { fleet } = stage;
    const aheadMs = anyStep(stage);
    await fleet.endWorker(index, 'SIGTERM');
    await fleet.setClock(`worker-${index}`, aheadMs);
    await fleet.startWorker(index);
    await sleep(2_000);
    await fleet.setClock(`worker-${index}`, 0);
    return { remark: `worker-${index} ${inWords(aheadMs)}` };
  });
