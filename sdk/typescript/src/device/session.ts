/**
 * The session of one participant, as far as it depends on a token: renewals, and how it ends.
 *
 * The application owns the connection to the relay and reports its events here. The session
 * ends once, with a reason (specification 6.3).
 */
import { Emitter } from './emitter.ts';
import { withRetries } from './retry.ts';
import { systemTimers, type Timers } from './timers.ts';

/** The maximum lifetime of tokens. If one seems to live longer, the clock is wrong. */
const LIFETIME_MS_MAX = 900_000;

/** The result of a renewal: `Grant`, or the answer of the tenant's own back end. */
export interface Renewable {
  /** What the device shows to relays, with a proof. */
  readonly token: string;
  /** When the token expires. */
  readonly expiresAt: Date;
}

/** Events of a session and their details. All but `token` and `renewalFailed` end it. */
export interface SessionEvents<G extends Renewable> {
  /** There is a new token: present it to the relay, with a proof. */
  token: G;
  /** A renewal failed and retrying will not help. The session continues until its token expires. */
  renewalFailed: {
    /** Why. */
    readonly error: unknown;
  };
  /**
   * Kicked, banned, the room closed by a moderator, the media taken over by another device of the user (`REPLACED`), or a hard
   * budget spent (`BUDGET_REACHED`).
   */
  moderated: {
    /** What the application passed to `moderated()`. */
    readonly code: string;
  };
  /** The host ended the room or broadcast. */
  hostEnded: object;
  /** The network did not return within the reconnect window. */
  networkFailure: object;
  /** The token expired and was not renewed; `error` is the reason, if a renewal failed. */
  tokenExpired: {
    /** Why the last renewal failed; `undefined` if none did. */
    readonly error: unknown;
  };
}

/** The first token, and how to get the next. */
export interface SessionOptions<G extends Renewable> {
  /** The first token. */
  readonly grant: G;
  /** Get another token for the same user, room and device. */
  readonly renew: (options: {
    /** Aborts when the session ends. */
    signal: AbortSignal;
  }) => Promise<G>;
  /** How long a lost connection may take to return. */
  readonly reconnectSeconds?: number;
  /** For tests: time. */
  readonly timers?: Timers;
}

/**
 * Keeps the token of one participant fresh, and reports once how the session ended. It never throws:
 * failures are events.
 */
export class Session<G extends Renewable> extends Emitter<SessionEvents<G>> {
  readonly #renew: SessionOptions<G>['renew'];
  readonly #reconnectMs: number;
  readonly #timers: Timers;
  readonly #end = new AbortController();
  #grant: G;
  #renewalError: unknown;
  #isRenewing = false;
  #renewalTimer: unknown;
  #expiryTimer: unknown;
  #reconnectTimer: unknown;

  constructor(options: SessionOptions<G>) {
    super();
    this.#renew = options.renew;
    this.#reconnectMs = (options.reconnectSeconds ?? 30) * 1000;
    this.#timers = options.timers ?? systemTimers;
    this.#grant = options.grant;
    this.#schedule();
  }

  /** The newest token and its details. */
  get grant(): G {
    return this.#grant;
  }

  /** Whether the session has ended, for any reason. */
  get ended(): boolean {
    return this.#end.signal.aborted;
  }

  /** Report from the relay: a moderator removed this participant or closed the room. */
  moderated(code: string): void {
    this.#finish('moderated', { code });
  }

  /** Report from the relay: the host ended the room. */
  hostEnded(): void {
    this.#finish('hostEnded', {});
  }

  /** The connection to the relay is lost. If it does not return in time, the session ends. */
  connectionLost(): void {
    if (this.ended || this.#reconnectTimer !== undefined) return;
    this.#reconnectTimer = this.#timers.setTimeout(
      () => this.#finish('networkFailure', {}),
      this.#reconnectMs,
    );
  }

  /** The connection to the relay is back. */
  connectionRestored(): void {
    this.#timers.clearTimeout(this.#reconnectTimer);
    this.#reconnectTimer = undefined;
  }

  /** Renew the token now, which may allow more than the one before. */
  async refresh(): Promise<void> {
    if (this.ended || this.#isRenewing) return;
    this.#timers.clearTimeout(this.#renewalTimer);
    await this.#renewNow();
  }

  /** Leave voluntarily: no more renewals, and no event. */
  leave(): void {
    this.#end.abort();
    for (const timer of [this.#renewalTimer, this.#expiryTimer, this.#reconnectTimer]) {
      this.#timers.clearTimeout(timer);
    }
  }

  /** Renews at half of the lifetime, early enough even if the device's clock is minutes wrong. */
  #schedule(): void {
    const { timers, lifetimeMs } = { timers: this.#timers, lifetimeMs: this.#remainingMs() };
    timers.clearTimeout(this.#expiryTimer);
    this.#renewalTimer = timers.setTimeout(() => void this.#renewNow(), lifetimeMs / 2);
    this.#expiryTimer = timers.setTimeout(
      () => this.#finish('tokenExpired', { error: this.#renewalError }),
      lifetimeMs,
    );
  }

  #remainingMs(): number {
    return Math.min(this.#grant.expiresAt.getTime() - this.#timers.now(), LIFETIME_MS_MAX);
  }

  async #renewNow(): Promise<void> {
    const { signal } = this.#end;
    this.#isRenewing = true;
    const untilMs = this.#timers.now() + this.#remainingMs();
    try {
      const grant = await withRetries(() => this.#renew({ signal }), {
        timers: this.#timers,
        untilMs,
        signal,
      });
      if (!this.ended) this.#take(grant);
    } catch (error) {
      this.#renewalError = error;
      if (!this.ended) this.emit('renewalFailed', { error });
    } finally {
      this.#isRenewing = false;
    }
  }

  #take(grant: G): void {
    this.#grant = grant;
    this.#renewalError = undefined;
    this.#schedule();
    this.emit('token', grant);
  }

  #finish<Name extends 'moderated' | 'hostEnded' | 'networkFailure' | 'tokenExpired'>(
    name: Name,
    detail: SessionEvents<G>[Name],
  ): void {
    if (this.ended) return;
    this.leave();
    this.emit(name, detail);
  }
}
