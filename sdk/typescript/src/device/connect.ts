/**
 * Media over a relay for as long as a session lasts: what this device publishes, and everyone else in the room. A lost
 * connection is opened again within the session's window. What the relay tells ends the session as specification 6.3 names it.
 */
import {
  type Arrived,
  Connection,
  type Direction,
  type Muted,
  makeCertificate,
  type Published,
} from './connection.ts';
import type { Device } from './device.ts';
import { Emitter } from './emitter.ts';
import { MediaEncryption } from './encryption/media-encryption.ts';
import { ConnectError, EncryptionRequiredError } from './errors.ts';
import { policyOf } from './policy-of-token.ts';
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
  /** The key for end-to-end encryption: see `setEncryptionKey()`. */
  readonly encryptionKey?: EncryptionKey;
  /** Makes the worker that encrypts, for pages whose content security policy allows none from a `blob:` URL. */
  readonly encryptionWorker?: () => Worker;
}

/** At least 16 random bytes, or a key that was imported for HKDF. */
export type EncryptionKey = Uint8Array<ArrayBuffer> | CryptoKey;

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
  /** What is muted of this participant has changed. */
  muted: Muted;
  /** Media of a participant is dropped: there is no encryption key, or it is encrypted with another one, or not at all. */
  encryptionRequired: {
    /** Whose. With the own name: the relay found media of this device that is not encrypted, and takes none. */
    readonly username: string;
  };
  /** The relay refuses for good what was lost and is to be opened again, for example because the credit is spent. The session goes on. */
  refused: {
    /** With the code and the words of the relay. */
    readonly error: ConnectError;
  };
}

/** What a participant may mute and unmute. */
export type MediaKind = 'audio' | 'video' | 'screen';

const RETRY_MS = 1_000;
/** Between two questions whether anything is published. */
const ASK_MS_MAX = 5_000;

/**
 * Resolves when the relay has answered. Throws `ConnectError` if it refuses or does not answer, and `EncryptionRequiredError` if there is
 * something to publish, the room requires end-to-end encryption, and there is no key.
 */
export async function connect(relayUrl: string, options: ConnectOptions): Promise<RelayConnection> {
  const connection = new RelayConnection(relayUrl, options);
  try {
    await connection.open();
  } catch (error) {
    await connection.close();
    throw error;
  }
  return connection;
}

export class RelayConnection extends Emitter<RelayEvents> {
  readonly #url: string;
  readonly #options: ConnectOptions;
  readonly #subscribed = new Map<string, Connection | 'opening'>();
  /** The connections over which nothing arrives. */
  readonly #interrupted = new Set<Connection>();
  #published: Connection | undefined;
  /** All connections share it: to make one costs more than to ask. */
  #certificate: RTCCertificate | undefined;
  #media: Published = {};
  #encryption: MediaEncryption | undefined;
  #own: readonly MediaKind[] | undefined;
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

  /** What is muted of this participant now: see the event. In a room that mutes on entry, `own` begins with `audio`. */
  get muted(): Muted {
    return { kinds: this.#published?.muted.kinds ?? [], own: this.#own ?? [] };
  }

  /** The connections that are open, for their statistics. */
  get peers(): RTCPeerConnection[] {
    return this.#open().map(({ peer }) => peer);
  }

  async open(): Promise<void> {
    const { publish, screen, subscribe = true, encryptionKey } = this.#options;
    if (encryptionKey) await this.setEncryptionKey(encryptionKey);
    if (publish || screen) await this.publish(publish, screen);
    else if (subscribe) await this.#subscribeFirst();
  }

  /**
   * Encrypt what is published from now on, and decrypt what the others publish, with this key. It replaces an earlier one,
   * which still decrypts what is on its way. In a room that asks for no encryption, it is for connections to come.
   *
   * Throws `TypeError` for a key of less than 16 bytes.
   */
  async setEncryptionKey(key: EncryptionKey): Promise<void> {
    await this.#encrypted().setKey(key);
  }

  /**
   * Send microphone and camera to the room, and a screen beside them, in place of what was published before. Throws
   * `ConnectError`, and `EncryptionRequiredError` if the room requires end-to-end encryption and there is no key: set one and
   * try again (specification 6.4).
   */
  async publish(publish: MediaStream | undefined, screen?: MediaStream): Promise<void> {
    const { e2eeRequired, muteOnEntry } = policyOf(this.#options.session.grant);
    // A key that could not be set is still wanted.
    const isEncrypted = e2eeRequired || this.#encryption !== undefined;
    if (isEncrypted && !this.#encryption?.hasKey) throw new EncryptionRequiredError();
    this.#own ??= mutedOnEntry(muteOnEntry);
    const before = this.#published;
    this.#published = undefined;
    await before?.close();
    this.#media = { publish, screen };
    this.#switchMicrophone();
    await this.#publish();
  }

  /** Switch the microphone off, or have the relay forward nothing of another kind. */
  mute(kind: MediaKind): Promise<void> {
    return this.#muteOwn([...this.#without(kind), kind].sort());
  }

  /** The reverse of `mute()`, and what a participant does in a room that mutes on entry. */
  unmute(kind: MediaKind): Promise<void> {
    return this.#muteOwn(this.#without(kind));
  }

  /** Leave the relay; the session goes on. */
  async close(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#open().map((connection) => connection.close()));
    this.#encryption?.close();
  }

  async #publish(): Promise<void> {
    const { muteOnEntry } = policyOf(this.#options.session.grant);
    const connection = await this.#connect(this.#media, () => this.#again(() => this.#publish()));
    connection.on('muted', (detail) => this.emit('muted', detail));
    connection.on('renew', () => void this.#options.session.refresh());
    this.#published = connection;
    const own = this.#own ?? [];
    // A relay does not know what the participant chose on an earlier connection.
    if (own.join() !== mutedOnEntry(muteOnEntry).join()) await connection.mute(own);
  }

  #without(kind: MediaKind): readonly MediaKind[] {
    return (this.#own ?? []).filter((each) => each !== kind);
  }

  async #muteOwn(kinds: readonly MediaKind[]): Promise<void> {
    this.#own = kinds;
    this.#switchMicrophone();
    await this.#published?.mute(kinds);
  }

  #switchMicrophone(): void {
    for (const track of this.#media.publish?.getAudioTracks() ?? [])
      track.enabled = !this.#own?.includes('audio');
  }

  #encrypted(): MediaEncryption {
    if (!this.#encryption) {
      this.#encryption = new MediaEncryption(this.#options.encryptionWorker);
      this.#encryption.on('unreadable', (detail) => this.emit('encryptionRequired', detail));
    }
    return this.#encryption;
  }

  /** Without any connection, nothing tells this device who publishes. */
  #findPublisher(): void {
    const hasNone = this.#published === undefined && this.#subscribed.size === 0;
    if (hasNone) void this.#again(() => this.#subscribeFirst());
  }

  /** Ask until the relay has something to send, less and less often. */
  async #subscribeFirst(waitMs = RETRY_MS): Promise<void> {
    try {
      await this.#subscribe(true);
    } catch (error) {
      if (!isNothingYet(error)) throw error;
      // The events of a connection that publishes tell the same.
      const nextMs = Math.min(2 * waitMs, ASK_MS_MAX);
      const goOn = async () => this.#published || (await this.#subscribeFirst(nextMs));
      setTimeout(() => void this.#again(async () => void (await goOn())), waitMs);
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
      // A connection that publishes has told of the same participant meanwhile.
      if (this.#subscribed.has(connection.publisher)) return await connection.close();
      this.#subscribed.set(connection.publisher, connection);
      const username = connection.publisher;
      // The application listens once `connect` has resolved, which for a device that sends nothing waits for this.
      setTimeout(() => {
        for (const arrived of connection.tracks) this.emit('track', { username, ...arrived });
        connection.on('track', (arrived) => this.emit('track', { username, ...arrived }));
      });
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
    const { session, device, room, username, subscribe = true } = this.#options;
    const isEncrypted = this.#encryption !== undefined || policyOf(session.grant).e2eeRequired;
    if (!this.#certificate || this.#certificate.expires < Date.now())
      this.#certificate = await makeCertificate();
    const connecting = {
      ...direction,
      ...(isEncrypted && { encryption: this.#encrypted() }),
      url: this.#url,
      room,
      username,
      device,
      token: () => session.grant.token,
    };
    const connection = await Connection.open(connecting, this.#certificate);
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
    connection.follow();
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
    const { session, username } = this.#options;
    this.#refused(code, reason);
    if (this.#isOver || session.ended || code === 'TOKEN_EXPIRED') return;
    if (code === 'NETWORK' || code === 'DRAINING') session.connectionLost();
    // Another connection would send the same.
    if (code === 'ENCRYPTION_REQUIRED') this.emit('encryptionRequired', { username });
    else lost();
  }

  /** What the relay says of the participant or the room ends the session. Source: specification 6.3. */
  #refused(code: string, reason: string | undefined): void {
    const { session } = this.#options;
    if (code === 'ROOM_CLOSED' && reason !== 'closed') session.hostEnded();
    else if (['TOKEN_REVOKED', 'BANNED', 'ROOM_CLOSED', 'REPLACED', 'BUDGET_REACHED'].includes(code))
      session.moderated(reason ?? code);
  }

  /** Until it succeeds, or the session or the connection is over. */
  async #again(work: () => Promise<void>): Promise<void> {
    while (!this.#isOver && !this.#options.session.ended) {
      try {
        return await work();
      } catch (error) {
        if (error instanceof ConnectError && !error.retryable) {
          this.#refused(error.code, error.reason);
          if (!this.#options.session.ended) this.emit('refused', { error });
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

const mutedOnEntry = (isMuted: boolean): MediaKind[] => (isMuted ? ['audio'] : []);

const isNothingYet = (error: unknown) => error instanceof ConnectError && error.code === 'NOTHING_PUBLISHED';
