/** An operator's request to a server: `quiet` to stop claiming jobs, `stop` to shut down. */
export type ServerRequest = 'quiet' | 'stop';

/**
 * All server states:
 *
 * - `running`: claims and runs jobs
 * - `quiet`: claims no new jobs, but finishes its running jobs
 * - `stopping`: shuts down when its jobs have finished or `stopTimeoutMs` has passed
 */
export const serverStates = ['running', 'quiet', 'stopping'] as const;

export type ServerState = (typeof serverStates)[number];
