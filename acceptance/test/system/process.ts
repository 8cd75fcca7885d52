import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { house } from '../house/house.js';

/** A program of the house, running. */
export interface Running {
  readonly pid: number;
  /** What it has written so far, a line each, standard output and error together. */
  readonly lines: readonly string[];
  /** How it ended (`exit 0`, `SIGKILL`), or null while it runs. */
  readonly ending: () => string | null;
  /** The next line of standard output. */
  nextLine(): Promise<string>;
  /** Settles with how it ended. */
  readonly ended: Promise<string>;
  /** Sends a signal and waits until the process is gone. */
  end(signal: NodeJS.Signals): Promise<string>;
}

const children = new Set<ChildProcess>();

// Whatever ends this process, nothing that it has started outlives it.
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Starts a compiled program of the house, `services/api/dist/main.js` say. */
export function run(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Running {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: house,
    // Not measured for coverage: most of these processes are killed, and the others would take long to end.
    env: { ...process.env, NODE_V8_COVERAGE: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout });
  for (const stream of [output, createInterface({ input: child.stderr })]) {
    stream.on('line', (line) => lines.push(line));
  }
  let ending: string | null = null;
  const closed = new Promise<string>((resolve) => {
    child.once('close', (code, signal) => {
      children.delete(child);
      ending = signal ?? `exit ${code}`;
      resolve(ending);
    });
  });
  return {
    pid: child.pid ?? 0,
    lines,
    ending: () => ending,
    ended: closed,
    nextLine: async () => {
      const line = once(output, 'line').then(([text]) => String(text));
      const failure = closed.then((how) =>
        Promise.reject(new Error(`${program}: ${how}\n${lines.join('\n')}`)),
      );
      return Promise.race([line, failure]);
    },
    end: (signal) => {
      child.kill(signal);
      return closed;
    },
  };
}
