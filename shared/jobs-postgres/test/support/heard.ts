import type pg from 'pg';

/**
 * Makes a connection listen for the notifications of storages. Returns a function that returns the subjects of those that
 * it has received: such as `outbox`, or `* ready` for the commit of a caller's transaction.
 * The pulses by which storages test their connections are left out, because a busy machine sends other numbers of them.
 */
export async function listen(connection: pg.Client, schema = 'longshore'): Promise<() => readonly string[]> {
  const subjects: string[] = [];
  connection.on('notification', ({ channel, payload = '' }) => {
    const subject = payload.slice(payload.indexOf(' ') + 1);
    if (channel === schema && subject !== '.') subjects.push(subject);
  });
  await connection.query(`listen "${schema}"`);
  return () => subjects;
}
