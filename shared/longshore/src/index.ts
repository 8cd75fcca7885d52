/** Background jobs, stored in Postgres or in memory: everything that most programs need, in one package. */
export * from '@longshore/jobs';
export * from '@longshore/jobs-postgres';
