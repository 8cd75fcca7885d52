// On Node 20, threads do not inherit the TypeScript loader of the tests, so this module registers it.
import { register } from 'tsx/esm/api';

register();

export const { run } = await import('./thread-handler.ts');
