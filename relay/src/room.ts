/** A room on this relay: who publishes what, and who gets it. Media goes from a publication to its subscriptions. */
import type { Track } from 'node-datachannel';
import type { EncryptionGuard, Packet } from './encryption-guard.ts';
import { readPixels } from './frame-size.ts';
import type { Codec, Kind } from './offer.ts';
import { Outgoing, type RtpHeader } from './rtp.ts';
import type { Sending } from './tracks.ts';

const KEY_FRAME_MS_MIN = 500;

/** What one participant sends of one kind. */
export class Source {
  readonly kind: Kind;
  readonly codec: Codec['name'];
  readonly #payloadType: number;
  readonly #track: Track;
  readonly #guard: EncryptionGuard | undefined;
  readonly #receivers = new Set<Receiver>();
  #askedAt = Number.NEGATIVE_INFINITY;
  /** The size of the newest key frame; 0 for sound. */
  pixels = 0;
  isMuted = false;

  /** `guard`: of a room that requires encryption. */
  constructor(kind: Kind, { name, payloadType }: Codec, track: Track, guard: EncryptionGuard | undefined) {
    this.kind = kind;
    this.codec = name;
    this.#payloadType = payloadType;
    this.#track = track;
    this.#guard = guard;
  }

  /**
   * Forward a packet to all who get it. What is not the media that was agreed on is dropped. Returns false if it is not
   * encrypted and must be.
   */
  take(bytes: Buffer, header: RtpHeader): boolean {
    if (header.payloadType !== this.#payloadType) return true;
    const passing = this.#guard
      ? this.#guard.pass({ bytes, header }, this.codec === 'opus')
      : [{ bytes, header }];
    if (!passing) return false;
    if (!this.isMuted) for (const packet of passing) this.#forward(packet);
    return true;
  }

  #forward({ bytes, header }: Packet): void {
    if (this.codec !== 'opus') {
      const pixels = readPixels(this.codec, bytes.subarray(header.payloadAt, header.payloadEnd));
      if (pixels !== undefined) this.pixels = pixels;
    }
    for (const receiver of this.#receivers) receiver.send(bytes, header, this.pixels);
  }

  attach(receiver: Receiver): void {
    this.#receivers.add(receiver);
    this.askForKeyFrame();
  }

  detach(receiver: Receiver): void {
    this.#receivers.delete(receiver);
    receiver.pause();
  }

  /** Key frames are large: those who ask within a short time share one. */
  askForKeyFrame(): void {
    if (this.codec === 'opus' || !this.#track.isOpen()) return;
    const now = performance.now();
    if (now - this.#askedAt < KEY_FRAME_MS_MIN) return;
    this.#askedAt = now;
    this.#track.requestKeyframe();
  }

  /** Nothing comes any more until it is unmuted, or for ever. */
  pause(): void {
    for (const receiver of this.#receivers) receiver.pause();
  }

  end(): void {
    this.pause();
    this.#receivers.clear();
  }
}

/** Counts what a participant gets. */
export interface Meter {
  /** Bytes of RTP, header and payload, before they are encrypted. */
  sent(bytes: number): void;
  /** The size of the picture that is forwarded on a stream; 0: none. */
  show(stream: object, pixels: number): void;
}

/** One kind of media of one subscriber. */
export class Receiver {
  readonly #track: Track;
  readonly #outgoing: Outgoing;
  readonly #mayReceive: () => boolean;
  readonly #meter: Meter;
  #pixels = 0;

  constructor({ track, payloadType, ssrc }: Sending, mayReceive: () => boolean, meter: Meter) {
    this.#track = track;
    this.#outgoing = new Outgoing(payloadType, ssrc);
    this.#mayReceive = mayReceive;
    this.#meter = meter;
  }

  send(packet: Buffer, header: RtpHeader, pixels: number): void {
    if (!this.#mayReceive() || !this.#track.isOpen()) return;
    try {
      if (!this.#track.sendMessageBinary(this.#outgoing.rewrite(packet, header))) return;
    } catch {
      // The library throws for a packet that SRTP does not take, such as one that is far too late.
      return;
    }
    this.#meter.sent(packet.length);
    if (pixels !== this.#pixels) this.#resize(pixels);
  }

  pause(): void {
    if (this.#pixels !== 0) this.#resize(0);
  }

  #resize(pixels: number): void {
    this.#pixels = pixels;
    this.#meter.show(this, pixels);
  }
}

export interface Publication {
  readonly username: string;
  readonly sources: ReadonlyMap<Kind, Source>;
}

export interface Subscription {
  /** The name of the publisher. */
  readonly of: string;
  readonly receivers: ReadonlyMap<Kind, Receiver>;
}

/** One incarnation of a room. */
export class Room {
  readonly #publications = new Map<string, Publication>();
  readonly #subscriptions = new Set<Subscription>();

  get isEmpty(): boolean {
    return this.#publications.size === 0 && this.#subscriptions.size === 0;
  }

  get publishers(): string[] {
    return [...this.#publications.keys()];
  }

  find(username: string): Publication | undefined {
    return this.#publications.get(username);
  }

  publish(publication: Publication): void {
    this.#publications.set(publication.username, publication);
    for (const subscription of this.#subscriptions) connect(publication, subscription);
  }

  unpublish(publication: Publication): void {
    for (const source of publication.sources.values()) source.end();
    if (this.#publications.get(publication.username) === publication) {
      this.#publications.delete(publication.username);
    }
  }

  subscribe(subscription: Subscription): void {
    this.#subscriptions.add(subscription);
    const publication = this.#publications.get(subscription.of);
    if (publication) connect(publication, subscription);
  }

  unsubscribe(subscription: Subscription): void {
    this.#subscriptions.delete(subscription);
    const publication = this.#publications.get(subscription.of);
    for (const [kind, receiver] of subscription.receivers) publication?.sources.get(kind)?.detach(receiver);
  }
}

function connect(publication: Publication, { of, receivers }: Subscription): void {
  if (of !== publication.username) return;
  for (const [kind, receiver] of receivers) publication.sources.get(kind)?.attach(receiver);
}
