// The loader of TypeScript that the tests run with does not reach into threads on Node 20, so this module brings it along.
import { register } from 'tsx/esm/api';

register();

export const { run } = await import('./thread-handler.ts');
