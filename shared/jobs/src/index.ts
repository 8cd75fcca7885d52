export * from './job/errors.js';
export type * from './job/job.js';
export * from './job/state.js';
export type * from './storage/storage.js';
