import { toJsonText } from '../../job/arguments.js';
import type { JsonValue } from '../../job/job.js';
import type { RunJob } from '../handler.js';
import { toErrorData } from './error-data.js';
import { ThreadContext } from './thread-context.js';
import type { ThreadResult, ThreadTask } from './thread-attempt.js';

/** Entry point of a pool thread: runs the handler of a task. */
export async function runInThread(task: ThreadTask): Promise<ThreadResult> {
  const context = new ThreadContext(task);
  try {
    const { run } = (await import(task.module)) as { run?: RunJob<JsonValue> };
    if (typeof run !== 'function') {
      throw new TypeError(`The module ${task.module} does not export a function named "run"`);
    }
    const result = (await run(context)) ?? null;
    toJsonText(result, 'result'); // throws if the result is not JSON, with the path of the invalid part
    return { result: result as JsonValue };
  } catch (error) {
    return { error: toErrorData(error), isReason: context.signal.aborted && error === context.signal.reason };
  } finally {
    context.end();
  }
}
