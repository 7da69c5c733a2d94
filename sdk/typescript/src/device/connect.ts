/**
 * Media over a relay for as long as a session lasts: what this device publishes, and everyone else in the room. A lost
 * connection is opened again within the session's window. What the relay tells ends the session as specification 6.3 names it.
 */
import { type Arrived, Connection, type Direction, type Published } from './connection.ts';
import type { Device } from './device.ts';
import { Emitter } from './emitter.ts';
import { ConnectError } from './errors.ts';
import type { Renewable, Session } from './session.ts';

/** What is connected, and for whom. */
export interface ConnectOptions extends Published {
  /** The session, with the token that the relay gets, and each later one. */
  readonly session: Session<Renewable>;
  /** The device that the token is bound to. */
  readonly device: Device;
  /** The room of the token. */
  readonly room: string;
  /** The name of the participant in the token, whose own media is not subscribed to. */
  readonly username: string;
  /** Whether to get what the others publish. Default: true. */
  readonly subscribe?: boolean;
}

/** Events of what is connected. How it ends is told by the session. */
export interface RelayEvents {
  /** Media of another participant begins to arrive. */
  track: Arrived & {
    /** Whose. */
    readonly username: string;
  };
  /** Another participant publishes no more, or the connection to their media is lost. If it is back, there are tracks again. */
  left: {
    /** Who. */
    readonly username: string;
  };
  /** What a moderator has muted: any of `audio`, `video`, `screen`, `data`. */
  muted: {
    /** All that is muted now. */
    readonly kinds: readonly string[];
  };
}

const RETRY_MS = 1_000;

/** Resolves when the relay has answered. Throws `ConnectError` if it refuses. */
export async function connect(relayUrl: string, options: ConnectOptions): Promise<RelayConnection> {
  const connection = new RelayConnection(relayUrl, options);
  await connection.open();
  return connection;
}

export class RelayConnection extends Emitter<RelayEvents> {
  readonly #url: string;
  readonly #options: ConnectOptions;
  readonly #subscribed = new Map<string, Connection | 'opening'>();
  /** The connections over which nothing arrives. */
  readonly #interrupted = new Set<Connection>();
  #published: Connection | undefined;
  #isOver = false;

  constructor(url: string, options: ConnectOptions) {
    super();
    this.#url = url;
    this.#options = options;
    options.session.on('token', () => void this.#renew());
    for (const name of ['moderated', 'hostEnded', 'networkFailure', 'tokenExpired'] as const) {
      options.session.on(name, () => void this.close());
    }
  }

  /** The connections that are open, for their statistics. */
  get peers(): RTCPeerConnection[] {
    return this.#open().map(({ peer }) => peer);
  }

  async open(): Promise<void> {
    const { publish, screen, subscribe = true } = this.#options;
    if (publish || screen) await this.#publish();
    else if (subscribe) await this.#subscribeFirst();
  }

  /** Leave the relay; the session goes on. */
  async close(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#open().map((connection) => connection.close()));
  }

  async #publish(): Promise<void> {
    const { publish, screen } = this.#options;
    const connection = await this.#connect({ publish, screen }, () => this.#again(() => this.#publish()));
    connection.on('muted', (detail) => this.emit('muted', detail));
    this.#published = connection;
  }

  /** Without any connection, nothing tells this device who publishes. */
  #findPublisher(): void {
    const hasNone = this.#published === undefined && this.#subscribed.size === 0;
    if (hasNone) void this.#again(() => this.#subscribeFirst());
  }

  /** Ask until the relay has something to send. */
  async #subscribeFirst(): Promise<void> {
    try {
      await this.#subscribe(true);
    } catch (error) {
      if (!isNothingYet(error)) throw error;
      setTimeout(() => void this.#again(() => this.#subscribeFirst()), RETRY_MS);
    }
  }

  async #subscribe(of: string | true): Promise<void> {
    const name = of === true ? '' : of;
    if (this.#isOver || this.#subscribed.has(name)) return;
    this.#subscribed.set(name, 'opening');
    try {
      const connection = await this.#connect({ subscribe: of }, () => {
        this.#forget(connection);
        void this.#again(() => this.#subscribe(connection.publisher)).then(() => this.#findPublisher());
      });
      this.#subscribed.delete(name);
      this.#subscribed.set(connection.publisher, connection);
      const username = connection.publisher;
      for (const arrived of connection.tracks) this.emit('track', { username, ...arrived });
      connection.on('track', (arrived) => this.emit('track', { username, ...arrived }));
    } catch (error) {
      this.#subscribed.delete(name);
      throw error;
    }
  }

  #forget(connection: Connection): void {
    this.#subscribed.delete(connection.publisher);
    this.emit('left', { username: connection.publisher });
  }

  async #connect(direction: Direction, lost: () => void): Promise<Connection> {
    const { session, device, room, subscribe = true } = this.#options;
    const connection = await Connection.open({
      ...direction,
      url: this.#url,
      room,
      device,
      token: () => session.grant.token,
    });
    this.#resumed(connection);
    connection.on('interrupted', () => {
      this.#interrupted.add(connection);
      session.connectionLost();
    });
    connection.on('resumed', () => this.#resumed(connection));
    if (subscribe) connection.on('publishers', ({ usernames }) => this.#follow(usernames));
    connection.on('ended', ({ code, reason }) => {
      this.#interrupted.delete(connection);
      this.#ended(code, reason, lost);
    });
    return connection;
  }

  #resumed(connection: Connection): void {
    this.#interrupted.delete(connection);
    if (this.#interrupted.size === 0) this.#options.session.connectionRestored();
  }

  #follow(usernames: readonly string[]): void {
    for (const [username, connection] of this.#subscribed) {
      if (connection !== 'opening' && !usernames.includes(username)) this.#leave(connection);
    }
    for (const username of usernames) {
      if (username === this.#options.username) continue;
      this.#subscribe(username).catch(() => undefined);
    }
    this.#findPublisher();
  }

  /** Its publisher has stopped. */
  #leave(connection: Connection): void {
    this.#forget(connection);
    this.#resumed(connection);
    void connection.close();
  }

  #ended(code: string, reason: string | undefined, lost: () => void): void {
    const { session } = this.#options;
    this.#refused(code, reason);
    if (this.#isOver || session.ended || code === 'TOKEN_EXPIRED') return;
    if (code === 'NETWORK' || code === 'DRAINING') session.connectionLost();
    lost();
  }

  /** What the relay says of the participant or the room ends the session. Source: specification 6.3. */
  #refused(code: string, reason: string | undefined): void {
    const { session } = this.#options;
    if (code === 'ROOM_CLOSED' && reason !== 'closed') session.hostEnded();
    else if (['TOKEN_REVOKED', 'BANNED', 'ROOM_CLOSED'].includes(code)) session.moderated(reason ?? code);
  }

  /** Until it succeeds, or the session or the connection is over. */
  async #again(work: () => Promise<void>): Promise<void> {
    while (!this.#isOver && !this.#options.session.ended) {
      try {
        return await work();
      } catch (error) {
        if (error instanceof ConnectError && error.status < 500) {
          this.#refused(error.code, error.reason);
          return;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  async #renew(): Promise<void> {
    await Promise.allSettled(this.#open().map((connection) => connection.renew()));
  }

  #open(): Connection[] {
    const subscribed = [...this.#subscribed.values()].filter((each) => each !== 'opening');
    return this.#published ? [this.#published, ...subscribed] : subscribed;
  }
}

const isNothingYet = (error: unknown) => error instanceof ConnectError && error.code === 'NOTHING_PUBLISHED';
