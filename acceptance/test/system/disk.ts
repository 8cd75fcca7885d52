import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** How much remains free when the disk is filled, in bytes: what may be written between measuring and filling. */
const marginBytes = 64 * 1024;

/** A file system in memory, mounted on a directory, that can run full without anything being written. */
export class Disk {
  readonly #directory: string;
  readonly #unmountAtExit: () => void;

  private constructor(directory: string) {
    this.#directory = directory;
    this.#unmountAtExit = () => void execFileSync('umount', ['--lazy', directory]);
    process.on('exit', this.#unmountAtExit);
  }

  /** Returns whether this process may mount a disk. In a container, being root is not enough. */
  static async isPossible(): Promise<boolean> {
    const directory = await mkdtemp(path.join(tmpdir(), 'longshore-disk-'));
    try {
      await (await Disk.mount(directory)).unmount();
      return true;
    } catch {
      return false;
    } finally {
      await rm(directory, { recursive: true });
    }
  }

  /**
   * Mounts a new disk on a directory.
   *
   * @throws {Error} if this process may not mount
   */
  static async mount(directory: string): Promise<Disk> {
    await run('mount', ['-t', 'tmpfs', '-o', 'size=50%', 'longshore-disk', directory]);
    return new Disk(directory);
  }

  /** Shrinks the disk to what is used. */
  async fill(): Promise<void> {
    for (;;) {
      const { blocks, bfree, bsize } = await statfs(this.#directory);
      try {
        await this.#resize(String((blocks - bfree) * bsize + marginBytes));
        return;
      } catch {
        // More has been written meanwhile, and the size was less than what is used.
      }
    }
  }

  /** Undoes {@link fill}. */
  async extend(): Promise<void> {
    await this.#resize('50%');
  }

  async unmount(): Promise<void> {
    process.off('exit', this.#unmountAtExit);
    await run('umount', ['--lazy', this.#directory]);
  }

  async #resize(size: string): Promise<void> {
    await run('mount', ['-o', `remount,size=${size}`, this.#directory]);
  }
}
