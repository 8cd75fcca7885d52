import { isIPv6 } from 'node:net';

const MAX_ADDRESSES = 10_000;

interface Misses {
  count: number;
  readonly until: number;
}

/** Counts misses from one address: `limit` of them within `windowMs`, and it is to wait until the window ends. */
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

  /** Milliseconds until this address may try again; 0: at once. */
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

/** Whoever has one address of IPv6 has the 2^64 of its network. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail = ''] = address.split('::');
  const [first, last] = [head, tail].map((part) => part.split(':').filter(Boolean));
  const zeros = Array.from({ length: 8 - (first?.length ?? 0) - (last?.length ?? 0) }, () => '0');
  return [...(first ?? []), ...zeros, ...(last ?? [])].slice(0, 4).join(':');
}
