import { isIPv6 } from 'node:net';

const MAX_ADDRESSES = 10_000;

interface Misses {
  count: number;
  readonly until: number;
}

/**
 * Counts misses by address: after `limit` of them within `windowMs`, the address has to wait for the window
 * to end.
 */
export class Throttle {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #now: () => number;
  readonly #misses = new Map<string, Misses>();

  constructor(limit: number, windowMs: number, now: () => number = Date.now) {
    this.#limit = limit;
    this.#windowMs = windowMs;
    this.#now = now;
  }

  /** Returns the milliseconds until this address may try again; 0 if it need not wait. */
  waitMs(address: string): number {
    const misses = this.#misses.get(networkOf(address));
    if (misses === undefined || misses.count < this.#limit) return 0;
    return Math.max(0, misses.until - this.#now());
  }

  miss(address: string): void {
    const misses = this.#misses.get(networkOf(address));
    if (misses !== undefined && misses.until > this.#now()) misses.count += 1;
    else {
      this.#forgetPast();
      this.#misses.set(networkOf(address), { count: 1, until: this.#now() + this.#windowMs });
    }
  }

  #forgetPast(): void {
    if (this.#misses.size < MAX_ADDRESSES) return;
    for (const [address, { until }] of this.#misses) if (until <= this.#now()) this.#misses.delete(address);
    if (this.#misses.size >= MAX_ADDRESSES) this.#misses.clear();
  }
}

/** Returns the address, or the /64 network of an IPv6 address: one client can use all addresses of such a network. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail = ''] = address.split('::');
  const [first, last] = [head, tail].map((part) => part.split(':').filter(Boolean));
  const zeros = Array.from({ length: 8 - (first?.length ?? 0) - (last?.length ?? 0) }, () => '0');
  return [...(first ?? []), ...zeros, ...(last ?? [])].slice(0, 4).join(':');
}
