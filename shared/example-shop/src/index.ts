import { greetHandler } from './jobs/greet.js';
import { resources } from './resources.js';

export { createHandlers, type ShopServices } from './handlers.js';
export { jobs } from './jobs.js';
export { migrations } from './migrations.js';
export { resources } from './resources.js';
export { seed } from './seed.js';

/** The example application: a shop and a fleet. */
export const application = { name: 'example-shop', handlers: [greetHandler], resources };
