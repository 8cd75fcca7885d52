/** Jobs with Postgres and memory storage: everything that most programs need, in one package. */
export * from '@longshore/jobs';
export * from '@longshore/jobs-postgres';
