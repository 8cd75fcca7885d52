/** An operator's request to a server: `quiet` to claim no more jobs, `stop` to shut down. */
export type ServerRequest = 'quiet' | 'stop';

/**
 * `quiet`: claims no new jobs and finishes those it has. `stopping`: exits when its jobs have finished or the
 * shutdown grace is over.
 */
export const serverStates = ['running', 'quiet', 'stopping'] as const;

export type ServerState = (typeof serverStates)[number];
