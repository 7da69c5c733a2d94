/** A room on this relay: who publishes what, and who gets it. Media goes from a publication to its subscriptions. */
import type { EncryptionGuard, Packet } from './encryption-guard.ts';
import { FrameSize } from './frame-size.ts';
import type { Codec, Kind } from './offer.ts';
import { Outgoing } from './outgoing.ts';
import { Resends } from './resends.ts';
import { pictureLoss } from './rtcp.ts';
import type { RtpHeader } from './rtp.ts';
import type { Session } from './session.ts';
import { readVp8Descriptor } from './vp8.ts';

const KEY_FRAME_MS_MIN = 500;

/** Sends a packet of RTP or RTCP to a participant, and returns whether it was sent. */
export type Send = (packet: Buffer) => boolean;

/** What one participant sends of one kind. */
export class Source {
  readonly kind: Kind;
  readonly codec: Codec['name'];
  readonly payloadType: number;
  readonly #send: Send;
  readonly #guard: EncryptionGuard | undefined;
  readonly #receivers = new Set<Receiver>();
  /** The sender of the newest packet. */
  #ssrc: number | undefined;
  /** `undefined`: it is sound. */
  readonly #size: FrameSize | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  isMuted = false;

  /** `send`: to the publisher. `guard`: of a room that requires encryption. */
  constructor(kind: Kind, { name, payloadType }: Codec, send: Send, guard: EncryptionGuard | undefined) {
    this.kind = kind;
    this.codec = name;
    this.#size = name === 'opus' ? undefined : new FrameSize(name);
    this.payloadType = payloadType;
    this.#send = send;
    this.#guard = guard;
  }

  /**
   * Forward a packet to all who get it. What is not the media that was agreed on is dropped. Returns why the session must
   * end, if it must.
   */
  take(bytes: Buffer, header: RtpHeader): 'ENCRYPTION_REQUIRED' | undefined {
    if (header.payloadType !== this.payloadType) return undefined;
    this.#ssrc = header.ssrc;
    const passing = this.#guard
      ? this.#guard.pass({ bytes, header }, this.codec === 'opus')
      : [{ bytes, header }];
    if (!passing) return 'ENCRYPTION_REQUIRED';
    if (!this.isMuted) for (const packet of passing) this.#forward(packet);
    return undefined;
  }

  /** A receiver begins with a key frame, which is asked for until it comes. */
  #forward({ bytes, header }: Packet): void {
    const payload = bytes.subarray(header.payloadAt, header.payloadEnd);
    const part = this.#size ? this.#size.take(payload) : 'key';
    const at = this.codec === 'VP8' ? readVp8Descriptor(payload).pictureAt : undefined;
    const pictureAt = at === undefined ? undefined : header.payloadAt + at;
    let isAwaited = part === undefined;
    for (const receiver of part === undefined ? [] : this.#receivers) {
      if (part === 'other' && receiver.waits(header)) isAwaited = true;
      else receiver.send(bytes, header, pictureAt, this.#size?.pixels ?? 0);
    }
    if (isAwaited) this.askForKeyFrame();
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
    // The first packets are a key frame by themselves.
    if (this.codec === 'opus' || this.#ssrc === undefined) return;
    const now = performance.now();
    if (now - this.#askedAt < KEY_FRAME_MS_MIN) return;
    if (this.#send(pictureLoss(this.#ssrc))) this.#askedAt = now;
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

/** Who gets the packets of a receiver. */
export interface Recipient {
  readonly send: Send;
  readonly meter: Meter;
  /** Whether the newest token allows it. */
  readonly mayGet: () => boolean;
}

/** One kind of media of one subscriber. */
export class Receiver {
  readonly codec: Codec['name'];
  readonly ssrc: number;
  readonly #recipient: Recipient;
  readonly #outgoing: Outgoing;
  readonly #resends = new Resends();
  #pixels = 0;

  /** `ssrc`: of what is sent to it. */
  constructor(codec: Codec, ssrc: number, recipient: Recipient) {
    this.codec = codec.name;
    this.ssrc = ssrc;
    this.#recipient = recipient;
    this.#outgoing = new Outgoing(codec, ssrc);
  }

  /** Whether it can decode nothing of this sender before the next key frame. */
  waits({ ssrc }: RtpHeader): boolean {
    return !this.#outgoing.follows(ssrc) && this.#recipient.mayGet();
  }

  /** `pictureAt`: see `Outgoing`. */
  send(packet: Buffer, header: RtpHeader, pictureAt: number | undefined, pixels: number): void {
    if (!this.#recipient.mayGet()) {
      this.pause();
      return;
    }
    const isFirst = !this.#outgoing.follows(header.ssrc);
    const copy = this.#outgoing.rewrite(packet, header, pictureAt);
    if (copy && this.#sends(copy)) {
      this.#resends.keep(copy);
      if (pixels !== this.#pixels) this.#resize(pixels);
    } else if (isFirst) {
      // The rest of a key frame is worth nothing without its beginning.
      this.pause();
    }
  }

  /** Sends again what the subscriber misses. */
  resend(missing: readonly number[]): void {
    for (const sequence of this.#recipient.mayGet() ? missing : []) {
      const missed = this.#resends.take(sequence);
      if (missed) this.#sends(missed);
    }
  }

  #sends(packet: Buffer): boolean {
    const isSent = this.#recipient.send(packet);
    if (isSent) this.#recipient.meter.sent(packet.length);
    return isSent;
  }

  pause(): void {
    this.#outgoing.pause();
    if (this.#pixels !== 0) this.#resize(0);
  }

  #resize(pixels: number): void {
    this.#pixels = pixels;
    this.#recipient.meter.show(this, pixels);
  }
}

export interface Publication {
  readonly username: string;
  readonly sources: ReadonlyMap<Kind, Source>;
  /** Its participant publishes something else from now on. */
  replaced(): void;
}

export interface Subscription {
  /** The name of the publisher. */
  readonly of: string;
  readonly receivers: ReadonlyMap<Kind, Receiver>;
  /** What is published now has another codec than the subscription. */
  recoded(): void;
}

/** One incarnation of a room, for as long as it has sessions. */
export class Room {
  readonly sessions = new Set<Session>();
  readonly #publications = new Map<string, Publication>();
  readonly #subscriptions = new Set<Subscription>();

  get publishers(): string[] {
    return [...this.#publications.keys()];
  }

  find(username: string): Publication | undefined {
    return this.#publications.get(username);
  }

  /** In place of what the same participant has published before. */
  publish(publication: Publication): void {
    const before = this.#publications.get(publication.username);
    this.#publications.set(publication.username, publication);
    before?.replaced();
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

function connect({ username, sources }: Publication, { of, receivers, recoded }: Subscription): void {
  if (of !== username) return;
  const pairs = [...receivers].flatMap(([kind, receiver]) => {
    const source = sources.get(kind);
    return source ? [{ source, receiver }] : [];
  });
  if (pairs.some(({ source, receiver }) => source.codec !== receiver.codec)) recoded();
  else for (const { source, receiver } of pairs) source.attach(receiver);
}
