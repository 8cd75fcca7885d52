import type { Tasks } from './tasks.js';

export type TaskName = keyof Tasks;

export interface TaskRequest {
  readonly task: TaskName;
  readonly args: unknown[];
}

export type TaskAnswer =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: string };
