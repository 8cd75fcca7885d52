import type { ServerRequest, ServerState } from '../job/job.js';
import type { ServerDescription, ServerRegistration, Servers } from '../storage/servers.js';
import type { Holdings } from './holdings.js';
import type { Logger } from './logger.js';
import { Loop } from './loop.js';

/**
 * Delay before registering again, in milliseconds. Prevents a tight loop if a server is repeatedly declared dead right
 * after registering.
 */
const rejoinMs = 1_000;

export interface MembershipOptions {
  readonly servers: Servers;
  /** Gets the id of the registration. */
  readonly holdings: Pick<Holdings, 'serverId'>;
  readonly description: ServerDescription;
  readonly logger: Logger;
  /** Called when the storage has declared this server dead; all leases are lost. */
  readonly onLost: () => void;
  /** Called when an operator asks the server to stop or to claim no more jobs. */
  readonly onRequest: (request: ServerRequest) => void;
}

/**
 * Keeps this server registered. If the server was declared dead by mistake, for example after a long stall or a network
 * failure, registers it again.
 */
export class Membership {
  readonly #options: MembershipOptions;
  readonly #rejoining: Loop;
  #registration: ServerRegistration | null = null;
  #lostRegistration: ServerRegistration | null = null;
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

  /** Sets the number of running jobs for the next heartbeat. */
  report(processing: number): void {
    this.#registration?.report(processing);
  }

  /** Sets the state for the next heartbeat. If this server registers again, it starts in this state. */
  enter(state: ServerState): void {
    this.#state = state;
    this.#registration?.enter(state);
  }

  async join(): Promise<void> {
    const { servers, description, logger, onLost, onRequest } = this.#options;
    const registration = await servers.register(description, (request) => {
      logger.info({ request }, 'received a request from an operator');
      onRequest(request);
    });
    this.#set(registration);
    if (this.#state !== 'running') registration.enter(this.#state);
    logger.info({ serverId: registration.id, ...description }, 'server registered');
    registration.lost.addEventListener('abort', () => {
      if (this.#registration !== registration) return;
      this.#set(null);
      this.#lostRegistration = registration;
      const { id: serverId, lost } = registration;
      logger.error(
        { serverId, err: lost.reason as unknown },
        'this server was declared dead; it drops its jobs and registers again',
      );
      onLost();
      this.#rejoining.start(rejoinMs);
    });
  }

  async leave(): Promise<void> {
    await this.#rejoining.stop();
    const registration = this.#registration;
    this.#set(null);
    await registration?.unregister();
  }

  #set(registration: ServerRegistration | null): void {
    this.#registration = registration;
    this.#options.holdings.serverId = registration?.id ?? null;
  }

  /** Registers again. First removes the old registration, so that its jobs are rescued immediately. */
  async #rejoin(): Promise<void> {
    await this.#lostRegistration?.unregister();
    this.#lostRegistration = null;
    await this.join();
  }
}
