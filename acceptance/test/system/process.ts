import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { house } from '../house/house.js';

/** A running program of this repository. */
export interface Running {
  readonly pid: number;
  /** The lines that the program has written so far to standard output and standard error. */
  readonly lines: readonly string[];
  /** Returns how the program ended (`exit 0`, `SIGKILL`); `null` while it is running. */
  readonly ending: () => string | null;
  /** Resolves to the next line of standard output. Rejects if the program ends first. */
  nextLine(): Promise<string>;
  /** Resolves to how the program ended, in the same format as `ending`. */
  readonly ended: Promise<string>;
  /** Sends a signal and waits until the process has ended. Resolves to how it ended. */
  end(signal: NodeJS.Signals): Promise<string>;
}

const children = new Set<ChildProcess>();

// Kills all started programs when this process exits.
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Starts a compiled program of this repository, such as `services/api/dist/main.js`. */
export function run(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Running {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: house,
    // Disables coverage, because most of these processes are killed, and it would delay the exit of the others.
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
