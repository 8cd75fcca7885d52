import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface ServiceSpec {
  readonly name: string;
  /** The path of the compiled entry file. */
  readonly main: string;
  readonly env: Readonly<Record<string, string>>;
  /** The base URL without a path, such as `http://localhost:8080`. */
  readonly url: string;
}

export interface ServiceProcess {
  readonly name: string;
  /** Resolves to a description of how the process ended, such as `exit code 1`. Never rejects. */
  readonly ended: Promise<string>;
  /**
   * Sends SIGTERM, and then SIGKILL if the service is still running after the deadline. Resolves when the service has
   * ended.
   */
  stop(deadlineMs: number): Promise<void>;
}

/** Starts a service. Calls `onLine` with each output line of the service. */
export function runService(spec: ServiceSpec, onLine: (line: string) => void): ServiceProcess {
  // On Linux, `setpriv` makes the kernel kill the service when this process ends, even if this process is killed.
  const node = [process.execPath, '--enable-source-maps', spec.main];
  const [command = '', ...args] =
    process.platform === 'linux' ? ['setpriv', '--pdeathsig=KILL', ...node] : node;
  const child = spawn(command, args, {
    env: { ...process.env, ...spec.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Runs the service in its own process group, so that Ctrl-C reaches only this process, which then sends the service
    // a single SIGTERM.
    detached: true,
  });
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', onLine);
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  void ended.then(() => process.off('exit', kill));
  const stop = async (deadlineMs: number): Promise<void> => {
    child.kill('SIGTERM');
    const impatience = setTimeout(kill, deadlineMs);
    await ended;
    clearTimeout(impatience);
  };
  return { name: spec.name, ended, stop };
}

/**
 * Resolves when the service is ready.
 *
 * @throws {Error} if the service is not ready when `giveUp` aborts
 */
export async function untilReady({ name, url }: ServiceSpec, giveUp: AbortSignal): Promise<void> {
  const isReady = (): Promise<boolean> =>
    fetch(new URL('/readyz', url), { signal: AbortSignal.timeout(2_000) }).then(
      (response) => response.ok,
      () => false,
    );
  while (!(await isReady())) {
    if (giveUp.aborted) throw new Error(`${name} did not become ready.`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
