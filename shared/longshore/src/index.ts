/** Jobs with their Postgres and memory storage: everything that most programs need, from one package. */
export * from '@longshore/jobs';
export * from '@longshore/jobs-postgres';
