/** What an operator asks of a server: to take no more jobs, or to stop in order. */
export type ServerRequest = 'quiet' | 'stop';

/** `quiet`: it takes no new jobs, those that it has go on. `stopping`: it will be gone when they have ended, or their time is up. */
export const serverStates = ['running', 'quiet', 'stopping'] as const;

export type ServerState = (typeof serverStates)[number];
