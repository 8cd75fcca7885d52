import { text } from 'node:stream/consumers';
import { hashPassword } from '@longshore/jobs-dashboard';

/** Reads a password from standard input and prints its hash, for use in `DASHBOARD_USERS`. */
export async function printPasswordHash(): Promise<void> {
  const password = (await text(process.stdin)).replace(/\r?\n$/, '');
  process.stdout.write(`${await hashPassword(password)}\n`);
}
