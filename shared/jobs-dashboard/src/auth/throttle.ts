import { isIPv6 } from 'node:net';

const MAX_ADDRESSES = 10_000;

interface AttemptWindow {
  count: number;
  readonly until: number;
}

/**
 * Counts attempts by address or, for IPv6, by /64 network. After `limit` attempts within `windowMs`, a client must wait
 * until that window ends.
 */
export class Throttle {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #now: () => number;
  readonly #windows = new Map<string, AttemptWindow>();

  constructor(limit: number, windowMs: number, now: () => number = Date.now) {
    this.#limit = limit;
    this.#windowMs = windowMs;
    this.#now = now;
  }

  /** Returns the time until this address may try again, in milliseconds; 0 if it need not wait. */
  waitMs(address: string): number {
    const window = this.#windows.get(networkOf(address));
    if (window === undefined || window.count < this.#limit) return 0;
    return Math.max(0, window.until - this.#now());
  }

  count(address: string): void {
    const window = this.#windows.get(networkOf(address));
    if (window !== undefined && window.until > this.#now()) window.count += 1;
    else {
      this.#evictExpired();
      this.#windows.set(networkOf(address), { count: 1, until: this.#now() + this.#windowMs });
    }
  }

  #evictExpired(): void {
    if (this.#windows.size < MAX_ADDRESSES) return;
    for (const [address, { until }] of this.#windows) if (until <= this.#now()) this.#windows.delete(address);
    if (this.#windows.size >= MAX_ADDRESSES) this.#windows.clear();
  }
}

/** Returns the address or, for IPv6, its /64 network, because one client can use all addresses of such a network. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail = ''] = address.split('::');
  const [first, last] = [head, tail].map((part) => part.split(':').filter(Boolean));
  const zeros = Array.from({ length: 8 - (first?.length ?? 0) - (last?.length ?? 0) }, () => '0');
  return [...(first ?? []), ...zeros, ...(last ?? [])].slice(0, 4).join(':');
}
