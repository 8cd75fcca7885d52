import { greetHandler } from './greet.js';

/** The example application. */
export const application = { name: 'example-shop', handlers: [greetHandler] };
