import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';

/** The user id and group id of `nobody`, an account that exists on every Linux system and owns no files. */
const unprivilegedId = 65534;

export type PostgresProcess = ChildProcessByStdio<null, null, Readable>;

/** Returns the id of the user who must own the data directory; `null` for the current user. */
export function dataOwner(): number | null {
  return process.getuid?.() === 0 ? unprivilegedId : null;
}

/**
 * Starts a Postgres program with its standard error piped.
 *
 * - If this process runs as root, the program runs as `nobody`, because Postgres refuses to run as root. A capability
 *   lets the program read and write all files, because its binaries or data can be in a home directory that only root
 *   can enter. `no_setuid_fixup` makes the capability count for access(2), which `initdb` uses to check access.
 * - On Linux, the kernel sends Postgres a SIGINT (fast shutdown) when this process dies, even if this process is
 *   killed.
 *
 * @throws {Error} if this process runs as root on a system other than Linux
 */
export function launch(program: string, args: readonly string[]): PostgresProcess {
  const wrapper = process.platform === 'linux' ? ['setpriv', '--pdeathsig=INT'] : [];
  if (dataOwner() !== null) {
    if (wrapper.length === 0)
      throw new Error('Postgres does not run as root: start this program as another user.');
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
  // Starts a separate process group, so that Ctrl-C does not reach Postgres. This program decides when to stop it.
  return spawn(command ?? program, rest, { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
}
