/** Runs one contender and performs the tasks that the parent process sends. Usage: `main.js CONTENDER URL`. */
import { contenders, type ContenderName } from '../contenders/index.js';
import type { TaskAnswer, TaskRequest } from './messages.js';
import { Tasks } from './tasks.js';

const [, , name = '', url = ''] = process.argv;
if (!(name in contenders)) throw new Error(`There is no contender "${name}"`);
const tasks = new Tasks(await contenders[name as ContenderName](url));

async function answer({ task, args }: TaskRequest): Promise<TaskAnswer> {
  try {
    const perform = tasks[task] as (...args: unknown[]) => Promise<unknown>;
    return { ok: true, value: await perform.apply(tasks, args) };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

process.on('message', (request: TaskRequest) => void answer(request).then((reply) => process.send?.(reply)));
process.once('disconnect', () => process.exit());
process.send?.({ ok: true, value: null } satisfies TaskAnswer);
