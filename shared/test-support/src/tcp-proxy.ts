import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';

interface Link {
  readonly near: Socket;
  readonly far: Socket;
  /** Whether everything that is sent is lost. */
  isLosing: boolean;
}

/**
 * A proxy on the loopback interface, in front of a server such as Postgres, whose connections can fall silent without
 * being closed. The kernel still accepts and acknowledges what clients send, as it does for a frozen process.
 */
export class TcpProxy {
  readonly #server: Server;
  readonly #links = new Set<Link>();
  readonly #host: string;
  #target: number;
  #isLosing = false;
  #isFrozen = false;

  private constructor(target: number, host: string) {
    this.#host = host;
    this.#target = target;
    this.#server = createServer({ pauseOnConnect: true }, (near) => this.#link(near));
  }

  /**
   * @param target port of the server
   * @param host where the server is; by default the loopback interface
   */
  static async start(target: number, host = '127.0.0.1'): Promise<TcpProxy> {
    const proxy = new TcpProxy(target, host);
    await new Promise<void>((resolve) => {
      proxy.#server.listen(0, '127.0.0.1', resolve);
    });
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Returns the URL of the same database through the proxy. */
  urlOf(url: string): string {
    return Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(this.port) }).href;
  }

  /** The number of connections that clients have open. */
  get connections(): number {
    return this.#links.size;
  }

  /**
   * Loses everything that is sent from now on over connections that are open, and over new ones until {@link recover} is
   * called. These connections stay silent for ever, as if their server had vanished.
   */
  lose(): void {
    this.#isLosing = true;
    for (const link of this.#links) link.isLosing = true;
  }

  /** Lets new connections through, to `target` if it is given. */
  recover(target = this.#target): void {
    this.#target = target;
    this.#isLosing = false;
  }

  /** Holds back everything that is sent until {@link thaw} is called. */
  freeze(): void {
    this.#isFrozen = true;
    for (const { near, far } of this.#links) for (const socket of [near, far]) socket.pause();
  }

  thaw(): void {
    this.#isFrozen = false;
    for (const { near, far } of this.#links) for (const socket of [near, far]) socket.resume();
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    for (const { near, far } of this.#links) for (const socket of [near, far]) socket.destroy();
    await closed;
  }

  #link(near: Socket): void {
    const far = connect(this.#target, this.#host);
    const link = { near, far, isLosing: this.#isLosing };
    this.#links.add(link);
    near.on('close', () => this.#links.delete(link));
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.setNoDelay(true);
      from.on('error', () => undefined); // 'close' follows
      from.on('data', (bytes) => {
        if (!link.isLosing) to.write(bytes);
      });
      from.on('close', () => {
        if (!link.isLosing || from === near) to.destroy();
      });
      if (this.#isFrozen) from.pause();
      else from.resume();
    }
  }
}
