/** An operator's request to a server: `quiet` to claim no more jobs, `stop` to shut down. */
export type ServerRequest = 'quiet' | 'stop';

/**
 * All server states:
 *
 * - `running`: claims and runs jobs
 * - `quiet`: claims no new jobs, but finishes those it is running
 * - `stopping`: shuts down as soon as its jobs have finished or `stopTimeoutMs` has passed
 */
export const serverStates = ['running', 'quiet', 'stopping'] as const;

export type ServerState = (typeof serverStates)[number];
