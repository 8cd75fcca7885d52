import { isIPv6 } from 'node:net';

const MAX_ADDRESSES = 10_000;

interface AttemptWindow {
  count: number;
  readonly until: number;
}

/** Counts attempts by address. After `limit` attempts within `windowMs`, an address must wait until the window ends. */
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

  /** Returns the time until this address can try again, in milliseconds; 0 if it does not have to wait. */
  waitMs(address: string): number {
    const window = this.#windows.get(networkOf(address));
    if (window === undefined || window.count < this.#limit) return 0;
    return Math.max(0, window.until - this.#now());
  }

  /** Counts an attempt from this address. */
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

/** Returns the address, or the /64 network of an IPv6 address: one client can use all addresses of such a network. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail = ''] = address.split('::');
  const [first, last] = [head, tail].map((part) => part.split(':').filter(Boolean));
  const zeros = Array.from({ length: 8 - (first?.length ?? 0) - (last?.length ?? 0) }, () => '0');
  return [...(first ?? []), ...zeros, ...(last ?? [])].slice(0, 4).join(':');
}
