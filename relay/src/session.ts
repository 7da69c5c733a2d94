/**
 * A session: one connection of one participant, from the answered offer to its end. It ends once: because the token
 * lapsed, a moderator acted, the participant left, or the network did.
 */
import { randomBytes } from 'node:crypto';
import {
  type Admission,
  AdmissionRefused,
  checkRevocations,
  type Revocations,
} from '../../sdk/typescript/src/relay/index.ts';
import type { EventStream } from './event-stream.ts';
import type { Participant } from './participant.ts';
import type { Peer } from './peer.ts';

export interface SessionOptions {
  readonly admission: Admission;
  readonly address: string;
  readonly fingerprint: string;
  readonly participant: Participant;
  /** A fresh challenge, for a renewal. */
  readonly challenge: () => string;
  /** Called once. */
  readonly onEnd: (session: Session, code: string) => void;
  readonly onMute: (muted: readonly string[]) => void;
}

export class Session {
  /** Random, because its holder may follow and end the session. */
  readonly id = randomBytes(16).toString('base64url');
  readonly fingerprint: string;
  readonly address: string;
  readonly participant: Participant;
  peer: Peer | undefined;
  candidates = 0;
  readonly #challenge: SessionOptions['challenge'];
  readonly #onEnd: SessionOptions['onEnd'];
  readonly #onMute: SessionOptions['onMute'];
  #admission: Admission;
  #timers: readonly NodeJS.Timeout[];
  #stream: EventStream | undefined;
  #muted = '[]';
  #hasEnded = false;

  constructor({ admission, address, fingerprint, participant, challenge, onEnd, onMute }: SessionOptions) {
    this.#admission = admission;
    this.address = address;
    this.fingerprint = fingerprint;
    this.participant = participant;
    this.#challenge = challenge;
    this.#onEnd = onEnd;
    this.#onMute = onMute;
    this.#timers = this.#followLifetime();
    participant.enter(this);
    this.#mute(admission.muted);
  }

  get admission(): Admission {
    return this.#admission;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** What the participant is told until the session ends. A new stream replaces the one before. */
  follow(stream: EventStream): void {
    this.#stream?.close();
    this.#stream = stream;
    stream.send('mute', { kinds: JSON.parse(this.#muted) });
  }

  tell(event: string, data: object): void {
    this.#stream?.send(event, data);
  }

  renewed(admission: Admission): void {
    this.#admission = admission;
    this.#clearTimers();
    this.#timers = this.#followLifetime();
    this.#mute(admission.muted);
  }

  /** Look at the revocations of the tenant, which have changed. */
  check(revocations: Revocations): void {
    try {
      const seen = { nowMs: Date.now(), address: this.address };
      this.#mute(checkRevocations(revocations, this.#admission, seen));
    } catch (error) {
      if (!(error instanceof AdmissionRefused)) throw error;
      this.end(error.code, error.reason);
    }
  }

  /** `code`: one of docs/tokens.md, or of docs/relays.md. */
  end(code: string, reason?: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#clearTimers();
    this.tell('end', { code, ...(reason !== undefined && { reason }) });
    this.#stream?.close();
    this.peer?.close();
    this.#onEnd(this, code);
  }

  /** Half-way, a device that has not renewed its token gets the challenge for it. */
  #followLifetime(): NodeJS.Timeout[] {
    const ms = this.#admission.expiresAt.getTime() - Date.now();
    return [
      setTimeout(() => this.tell('challenge', { challenge: this.#challenge() }), ms / 2),
      setTimeout(() => this.end('TOKEN_EXPIRED'), ms),
    ];
  }

  #clearTimers(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #mute(kinds: readonly string[]): void {
    const muted = JSON.stringify([...kinds].sort());
    if (muted === this.#muted) return;
    this.#muted = muted;
    this.tell('mute', { kinds: JSON.parse(muted) });
    this.#onMute(kinds);
  }
}
