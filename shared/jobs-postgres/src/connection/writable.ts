import { StorageUnavailableError } from '@longshore/jobs';
import type pg from 'pg';
import { fromDriver, translate } from './errors.js';
import { meaningOf, readOnlyState } from './sql-states.js';

/** Without operators, because behind a pooler the role's search path may hold others. */
const selectReadOnly = `select pg_catalog.current_setting('transaction_read_only') as read_only`;

/**
 * Borrows a connection and checks that its server and session accept writes. Closes a connection that accepts only reads,
 * because the next one may lead to another server.
 *
 * @throws {StorageUnavailableError} if there is no connection, or if it accepts only reads, as on a standby
 */
export async function requireWritable(borrow: () => Promise<pg.PoolClient>): Promise<void> {
  let isWritable = false;
  try {
    const client = await fromDriver(borrow());
    try {
      const { rows } = await fromDriver(client.query<{ read_only: string }>(selectReadOnly));
      isWritable = rows[0]?.read_only === 'off';
    } finally {
      client.release(!isWritable);
    }
  } catch (error) {
    throw translate(error);
  }
  if (isWritable) return;
  const message = `${meaningOf(readOnlyState).reason} (SQLSTATE ${readOnlyState})`;
  throw new StorageUnavailableError(message, { summary: message });
}
