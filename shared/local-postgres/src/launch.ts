import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';

/** `nobody`: present on every Linux, owner of nothing. */
const unprivilegedId = 65534;

export type PostgresProcess = ChildProcessByStdio<null, null, Readable>;

/** The user who must own the data directory, or null for the user who runs this process. */
export function dataOwner(): number | null {
  return process.getuid?.() === 0 ? unprivilegedId : null;
}

/**
 * Starts a Postgres program, its standard error piped.
 *
 * - Postgres refuses to run as root, so root runs it as `nobody` and leaves it one capability, to reach files: the
 *   binaries or the data may lie below a home directory that only root can enter. (Without `no_setuid_fixup` the check
 *   that initdb makes, access(2), would not count it.)
 * - On Linux the kernel shuts it down (fast: SIGINT) when this process dies, even of `kill -9`.
 */
export function launch(program: string, args: readonly string[]): PostgresProcess {
  const wrapper = process.platform === 'linux' ? ['setpriv', '--pdeathsig=INT'] : [];
  if (dataOwner() !== null) {
    if (wrapper.length === 0) throw new Error('Postgres does not run as root: start this as another user.');
    wrapper.push(
      `--reuid=${unprivilegedId}`,
      `--regid=${unprivilegedId}`,
      '--clear-groups',
      '--securebits=+no_setuid_fixup',
      '--inh-caps=+dac_override',
      '--ambient-caps=+dac_override',
    );
  }
  const [command, ...rest] = [...wrapper, program, ...args];
  // Away from the terminal's process group: Ctrl-C is for the program that decides the order of stopping.
  return spawn(command ?? program, rest, { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
}
