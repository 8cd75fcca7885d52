import { networkOf } from '@longshore/edge';
import type { Principal } from '../../definition/call-context.js';
import type { ApiRequest } from '../request/request.js';

/** Returns the name under which limits and quotas count a caller: the principal's, or the network of the address. */
export function callerOf({ address }: Pick<ApiRequest, 'address'>, principal: Principal | undefined): string {
  return principal?.name ?? `address ${networkOf(address)}`;
}
