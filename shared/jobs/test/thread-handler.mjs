// Registers the TypeScript loader, because threads do not inherit the loader of the tests on Node 20.
import { register } from 'tsx/esm/api';

register();

export const { run } = await import('./thread-handler.ts');
