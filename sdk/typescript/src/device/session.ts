/**
 * A session of one participant, as far as it depends on a token: renewals, and how it ends.
 *
 * The connection to the relay belongs to the application, which tells what happens there; the session
 * ends once and says why (specification 6.3).
 */
import { Emitter } from './emitter.ts';
import { withRetries } from './retry.ts';
import { systemTimers, type Timers } from './timers.ts';

/** No token lives longer; what looks longer is a clock that is wrong. */
const LIFETIME_MS_MAX = 900_000;

/** What a renewal yields: `Grant`, or what a back end of the tenant's own answers. */
export interface Renewable {
  readonly token: string;
  readonly expiresAt: Date;
}

/** What a session tells, and what comes with it. All but `token` and `renewalFailed` end it. */
export interface SessionEvents<G extends Renewable> {
  /** There is a new token: show it to the relay, with a proof. */
  token: G;
  /** No new token so far, and no use in trying again. The session goes on until its token lapses. */
  renewalFailed: { readonly error: unknown };
  /** Kicked, banned, or the room closed by a moderator. */
  moderated: { readonly code: string };
  /** The host ended the room or broadcast. */
  hostEnded: object;
  /** The network did not return within the reconnect window. */
  networkFailure: object;
  /** The token lapsed and was not renewed; `error` is why, when a renewal failed. */
  tokenExpired: { readonly error: unknown };
}

/** A session begins with a token and knows how to get the next. */
export interface SessionOptions<G extends Renewable> {
  readonly grant: G;
  /** Get another token for the same user, room and device. */
  readonly renew: (options: { signal: AbortSignal }) => Promise<G>;
  /** How long a lost connection may take to come back. */
  readonly reconnectSeconds?: number;
  readonly timers?: Timers;
}

/**
 * Keeps the token of one participant fresh, and says once how it ended. It throws nothing: failures are
 * events.
 */
export class Session<G extends Renewable> extends Emitter<SessionEvents<G>> {
  readonly #renew: SessionOptions<G>['renew'];
  readonly #reconnectMs: number;
  readonly #timers: Timers;
  readonly #end = new AbortController();
  #grant: G;
  #renewalError: unknown;
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

  /** The newest token and what came with it. */
  get grant(): G {
    return this.#grant;
  }

  /** Whether it is over, for whatever reason. */
  get ended(): boolean {
    return this.#end.signal.aborted;
  }

  /** The relay says that a moderator removed this participant or closed the room. */
  moderated(code: string): void {
    this.#finish('moderated', { code });
  }

  /** The relay says that the host ended the room. */
  hostEnded(): void {
    this.#finish('hostEnded', {});
  }

  /** The connection to the relay is gone. Unless it returns in time, so is the session. */
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

  /** Leave by oneself: no more renewals, and no event. */
  leave(): void {
    this.#end.abort();
    for (const timer of [this.#renewalTimer, this.#expiryTimer, this.#reconnectTimer]) {
      this.#timers.clearTimeout(timer);
    }
  }

  /** Renew half-way, so that a renewal is in time even where the device's clock is minutes wrong. */
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
