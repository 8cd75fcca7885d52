import { newId } from '../job/id.js';
import type { LostServer, Server, ServerRequest } from '../job/job.js';
import type { ControlOptions } from '../storage/job-control.js';
import type {
  ServerControlResult,
  ServerDescription,
  ServerRegistration,
  Servers,
} from '../storage/servers.js';
import type { MemoryAuditLog } from './memory-audit.js';
import type { MemoryDeployments } from './memory-deployments.js';
import type { MemoryJobs } from './memory-jobs.js';
import type { Clock } from '../job/clock.js';
import { refuseTransaction } from './refuse-transaction.js';

interface Entry {
  readonly server: Server;
  readonly lost: AbortController;
  readonly timer: NodeJS.Timeout;
  readonly onRequest: (request: ServerRequest) => void;
}

const dayMs = 24 * 3_600_000;
const maxLost = 100;

interface MemoryServersParts {
  readonly clock: Clock;
  readonly jobs: MemoryJobs;
  readonly audit: MemoryAuditLog;
  readonly deployments: MemoryDeployments;
}

export class MemoryServers implements Servers {
  readonly #clock: Clock;
  readonly #jobs: MemoryJobs;
  readonly #audit: MemoryAuditLog;
  readonly #deployments: MemoryDeployments;
  readonly #rescue: () => Promise<void>;
  readonly #lost: LostServer[] = [];
  readonly #entries = new Map<string, Entry>();
  /** Versions by server id. Contains only registered servers that reported a version. */
  readonly #versions = new Map<string, string>();
  /** Concurrency by server id. Includes lost servers, because it determines which of their claimed jobs had started. */
  readonly #concurrency = new Map<string, number>();

  /** @param rescue reclaims the jobs of servers that are gone; called after a server unregisters */
  constructor({ clock, jobs, audit, deployments }: MemoryServersParts, rescue: () => Promise<void>) {
    this.#deployments = deployments;
    this.#clock = clock;
    this.#jobs = jobs;
    this.#audit = audit;
    this.#rescue = rescue;
  }

  isAlive(id: string): boolean {
    return this.#entries.has(id);
  }

  /** Returns the concurrency of a registered or lost server; `Infinity` if unknown. */
  concurrencyOf(id: string | null): number {
    return this.#concurrency.get(id ?? '') ?? Infinity;
  }

  /**
   * Returns the names of the jobs that a server has handlers for; `null` if the server registered no names or is not
   * registered.
   */
  jobNamesOf(id: string): readonly string[] | null {
    return this.#entries.get(id)?.server.jobNames ?? null;
  }

  async listLost(): Promise<LostServer[]> {
    const since = this.#clock.now() - dayMs;
    return this.#lost.filter(({ lostAt }) => lostAt.getTime() >= since).map((server) => ({ ...server }));
  }

  async list(): Promise<Server[]> {
    return this.all();
  }

  all(): Server[] {
    return [...this.#entries.values()].map(({ server }) => copyOf(server));
  }

  async register(
    description: ServerDescription,
    onRequest: (request: ServerRequest) => void = () => undefined,
  ): Promise<ServerRegistration> {
    this.#jobs.requireOpen();
    for (const queue of description.queues) this.#jobs.queue(queue);
    const id = newId();
    const now = new Date(this.#clock.now());
    const { version, ...described } = description;
    if (version !== undefined) {
      this.#deployments.noteServer(id, version, new Set(this.#versions.values()));
      this.#versions.set(id, version);
    }
    const server: Server = {
      ...described,
      version: version ?? null,
      id,
      queues: [...description.queues],
      queueWeights: description.queueWeights === undefined ? null : [...description.queueWeights],
      jobNames: description.jobNames === undefined ? null : [...description.jobNames],
      processing: 0,
      state: 'running',
      requested: null,
      clockAheadMs: 0,
      startedAt: now,
      heartbeatAt: now,
    };
    const beat = (): void => {
      server.heartbeatAt = new Date(this.#clock.now());
    };
    const timer = setInterval(beat, description.timeoutMs / 3).unref();
    const lost = new AbortController();
    this.#entries.set(id, { server, lost, timer, onRequest });
    this.#concurrency.set(id, description.concurrency);
    return {
      id,
      lost: lost.signal,
      report: (processing) => {
        server.processing = processing;
      },
      enter: (state) => {
        server.state = state;
      },
      unregister: async () => {
        this.#remove(id);
        this.#concurrency.delete(id);
        await this.#rescue();
      },
    };
  }

  async quiet(
    id: string,
    options?: ControlOptions<Server, ServerControlResult>,
  ): Promise<ServerControlResult> {
    return this.#request(id, 'quiet', options);
  }

  async stop(
    id: string,
    options?: ControlOptions<Server, ServerControlResult>,
  ): Promise<ServerControlResult> {
    return this.#request(id, 'stop', options);
  }

  #request(
    id: string,
    request: ServerRequest,
    options: ControlOptions<Server, ServerControlResult> = {},
  ): ServerControlResult {
    refuseTransaction(options.transaction);
    const entry = this.#entries.get(id);
    if (entry === undefined) {
      this.#audit.addOf(options, { outcome: 'unknown' });
      return { outcome: 'unknown' };
    }
    const { server, onRequest } = entry;
    options.check?.(copyOf(server));
    const changed = server.requested !== request && server.requested !== 'stop';
    this.#audit.addOf(options, { outcome: 'ok', server: copyOf(server), changed });
    if (changed) {
      server.requested = request;
      onRequest(request);
    }
    return { outcome: 'ok', server: copyOf(server), changed };
  }

  /** Declares servers dead if their latest heartbeat is older than their timeout. Returns the ids of these servers. */
  declareDead(): string[] {
    const now = this.#clock.now();
    const silent = [...this.#entries.values()].filter(
      ({ server }) => server.heartbeatAt.getTime() < now - server.timeoutMs,
    );
    for (const { server, lost } of silent) {
      this.#remove(server.id);
      lost.abort();
      const { id, host, pid, heartbeatAt } = server;
      this.#lost.unshift({ id, host, pid, processing: 0, heartbeatAt, lostAt: new Date(now) });
    }
    for (const { id } of this.#lost.splice(maxLost)) this.#concurrency.delete(id);
    return silent.map(({ server }) => server.id);
  }

  /** Counts a reclaimed job for a lost server. Does nothing if the server was not declared dead. */
  countReclaimed(id: string | null): void {
    const server = this.#lost.find((candidate) => candidate.id === id);
    if (server !== undefined) server.processing += 1;
  }

  close(): void {
    for (const id of this.#entries.keys()) this.#remove(id);
  }

  #remove(id: string): void {
    clearInterval(this.#entries.get(id)?.timer);
    this.#entries.delete(id);
    this.#versions.delete(id);
  }
}

function copyOf(server: Server): Server {
  return structuredClone(server);
}
