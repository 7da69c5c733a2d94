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
import type { Kind } from './offer.ts';
import type { Participant } from './participant.ts';
import type { Peer } from './peer.ts';

export interface SessionOptions {
  readonly admission: Admission;
  readonly address: string;
  readonly fingerprint: string;
  readonly participant: Participant;
  /** A fresh challenge, for a renewal. */
  readonly challenge: () => string;
  /** The kinds of media that it publishes. */
  readonly published: readonly Kind[];
  /** Called once. */
  readonly onEnd: (session: Session, code: string) => void;
  /** What is not to be forwarded any more, or again. */
  readonly onMute: (withheld: readonly string[]) => void;
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
  readonly #published: readonly Kind[];
  /** What moderators have muted, by the newest snapshot of revocations. */
  #moderated: readonly string[];
  /** What the participant has muted, or the room for the participant to unmute. */
  #own: readonly string[];
  #told: string;
  #endCode: string | undefined;

  constructor(options: SessionOptions) {
    const { admission, address, fingerprint, participant, published, challenge, onEnd, onMute } = options;
    this.#admission = admission;
    this.#published = published;
    this.#moderated = admission.muted;
    this.#own = admission.muteOnEntry ? published.filter((kind) => kind === 'audio') : [];
    this.address = address;
    this.fingerprint = fingerprint;
    this.participant = participant;
    this.#challenge = challenge;
    this.#told = JSON.stringify(this.#muted());
    this.#onEnd = onEnd;
    this.#onMute = onMute;
    this.#timers = this.#followLifetime();
    participant.enter(this);
    participant.act(admission.role);
  }

  get admission(): Admission {
    return this.#admission;
  }

  /** Media may flow. */
  get hasConnected(): boolean {
    return this.peer?.isTrusted ?? false;
  }

  get hasEnded(): boolean {
    return this.#endCode !== undefined;
  }

  /** Why it ended. */
  get endCode(): string | undefined {
    return this.#endCode;
  }

  /** What the participant is told until the session ends. A new stream replaces the one before. */
  follow(stream: EventStream): void {
    this.#stream?.close();
    this.#stream = stream;
    stream.send('mute', this.#muted());
  }

  tell(event: string, data: object): void {
    this.#stream?.send(event, data);
  }

  renewed(admission: Admission): void {
    if (this.hasEnded) return;
    this.#admission = admission;
    this.participant.act(admission.role);
    this.#clearTimers();
    this.#timers = this.#followLifetime();
    this.#mute(admission.muted);
  }

  /** What the participant mutes from now on; all else of its own is unmuted. */
  muteOwn(kinds: readonly string[]): void {
    this.#own = kinds;
    this.#mute(this.#moderated);
  }

  /** What is not to be forwarded: muted by a moderator or by the participant, or no longer allowed by the token. */
  get withheld(): readonly string[] {
    const { kinds, own } = this.#muted();
    return [...kinds, ...own];
  }

  /** Those of the newest token. */
  get budgets(): readonly string[] {
    return this.#admission.budgets;
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
    if (this.hasEnded) return;
    this.#endCode = code;
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

  #mute(moderated: readonly string[]): void {
    const released = this.#moderated.filter((kind) => !moderated.includes(kind));
    this.#moderated = moderated;
    // A token that was minted meanwhile lacks the right that a moderator has given back.
    if (released.some((kind) => this.#notAllowed().includes(kind as Kind))) this.tell('renew', {});
    const muted = this.#muted();
    const told = JSON.stringify(muted);
    if (told === this.#told) return;
    this.#told = told;
    this.tell('mute', muted);
    this.#onMute(this.withheld);
  }

  /** `kinds`: what the participant cannot change. */
  #muted(): { readonly kinds: readonly string[]; readonly own: readonly string[] } {
    const kinds = [...new Set([...this.#moderated, ...this.#notAllowed()])].sort();
    return { kinds, own: this.#own };
  }

  /** A right may be gone with a renewed token. */
  #notAllowed(): readonly Kind[] {
    const { capabilities } = this.#admission;
    return this.#published.filter((kind) => !capabilities.includes(`publish.${kind}`));
  }
}
