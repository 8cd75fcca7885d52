import type { ServerRequest, ServerState } from '../job/server-state.js';
import type { ServerDescription, ServerRegistration, Servers } from '../storage/servers.js';
import type { Logger } from './logger.js';
import { Loop } from './loop.js';

/** A server that is lost as soon as it has registered must not do so in a tight loop. */
const rejoinMs = 1_000;

export interface MembershipOptions {
  readonly servers: Servers;
  readonly description: ServerDescription;
  readonly logger: Logger;
  /** This server was declared dead: every claim it held is gone. */
  readonly onLost: () => void;
  /** An operator asks for something. */
  readonly onRequest: (request: ServerRequest) => void;
}

/** Keeps this server registered; after it was declared dead by mistake (a long stall, a cut network) it joins anew. */
export class Membership {
  readonly #options: MembershipOptions;
  readonly #rejoining: Loop;
  #registration: ServerRegistration | null = null;
  #former: ServerRegistration | null = null;
  #state: ServerState = 'running';

  constructor(options: MembershipOptions) {
    this.#options = options;
    this.#rejoining = new Loop({
      task: 'registering the server',
      logger: options.logger,
      runOnce: async () => {
        if (this.#registration === null) await this.#rejoin();
        return 60_000;
      },
    });
  }

  /** `null` while this server is not registered. */
  get serverId(): string | null {
    return this.#registration?.id ?? null;
  }

  /** Tells people how many jobs this server holds. */
  report(processing: number): void {
    this.#registration?.report(processing);
  }

  /** Tells people what this server does, under each id that it gets. */
  enter(state: ServerState): void {
    this.#state = state;
    this.#registration?.enter(state);
  }

  async join(): Promise<void> {
    const { servers, description, logger, onLost, onRequest } = this.#options;
    const registration = await servers.register(description, (request) => {
      logger.info({ request }, 'an operator asks this server');
      onRequest(request);
    });
    this.#registration = registration;
    if (this.#state !== 'running') registration.enter(this.#state);
    logger.info({ serverId: registration.id, ...description }, 'server registered');
    registration.lost.addEventListener('abort', () => {
      if (this.#registration !== registration) return;
      this.#registration = null;
      this.#former = registration;
      const { id: serverId, lost } = registration;
      logger.error(
        { serverId, err: lost.reason as unknown },
        'this server counts as dead; it drops its jobs and registers anew',
      );
      onLost();
      this.#rejoining.start(rejoinMs);
    });
  }

  async leave(): Promise<void> {
    await this.#rejoining.stop();
    const registration = this.#registration;
    this.#registration = null;
    await registration?.unregister();
  }

  /** What is left of the former registration goes first, so that the jobs it held come back at once. */
  async #rejoin(): Promise<void> {
    await this.#former?.unregister();
    this.#former = null;
    await this.join();
  }
}
