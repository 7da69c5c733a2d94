/** The relay: sessions in rooms, and what moves media between them. */
import ndc from 'node-datachannel';
import {
  type Admission,
  createTokenVerifier,
  followRevocations,
  openUsageReporter,
  type RevocationFeed,
  type TokenVerifier,
  type UsageReporter,
} from '../../sdk/typescript/src/relay/index.ts';
import { type Counts, Metrics } from './metrics.ts';
import type { Codec, Kind, Offer } from './offer.ts';
import { Participant } from './participant.ts';
import { Peer } from './peer.ts';
import { Refused } from './refused.ts';
import { type Publication, Receiver, Room, Source, type Subscription } from './room.ts';
import { Session } from './session.ts';
import type { Settings } from './settings.ts';
import { addSending, receive } from './tracks.ts';

export interface Entry {
  readonly admission: Admission;
  readonly offer: Offer;
  readonly address: string;
}

export interface Opened {
  readonly session: Session;
  readonly answer: string;
  /** The name of the participant whose media a subscription carries. */
  readonly publisher?: string;
}

export class Relay {
  readonly verifier: TokenVerifier;
  readonly metrics = new Metrics(() => this.counts);
  readonly #settings: Settings;
  readonly #reporter: UsageReporter;
  readonly #feed: RevocationFeed;
  readonly #rooms = new Map<string, Room>();
  readonly #sessions = new Map<string, Session>();
  readonly #participants = new Map<string, Participant>();
  #isDraining = false;

  private constructor(settings: Settings, reporter: UsageReporter) {
    const { service, issuer, tenant } = settings;
    const ours = {
      issuer,
      audience: `relay:${new URL(issuer).host}`,
      jwksUrl: `${service}/.well-known/jwks.json`,
    };
    this.#settings = settings;
    this.#reporter = reporter;
    this.#feed = followRevocations({
      ...ours,
      url: service,
      tenants: [tenant],
      onChange: (_tenant, revocations) => {
        for (const session of this.#sessions.values()) session.check(revocations);
      },
    });
    this.verifier = createTokenVerifier({
      ...ours,
      tenants: new Set([tenant]),
      revocations: this.#feed.get,
      admitted: () => reporter.admitted !== false,
    });
  }

  static async open(settings: Settings): Promise<Relay> {
    const { service: url, key, spool, relayId } = settings;
    return new Relay(settings, await openUsageReporter({ url, key, spool, relayId }));
  }

  get counts(): Counts {
    return { sessions: this.#sessions.size, rooms: this.#rooms.size, participants: this.#participants.size };
  }

  find(id: string): Session | undefined {
    return this.#sessions.get(id);
  }

  /** A participant sends what its token allows. */
  async publish({ admission, offer, address }: Entry): Promise<Opened> {
    for (const { kind } of offer.sections) demand(admission, `publish.${kind}`);
    const room = this.#rooms.get(admission.roomUid) ?? new Room();
    const sources = new Map<Kind, Source>();
    const publication: Publication = { username: admission.username, sources };
    const session = this.#begin(admission, room, offer, address, {
      muted: (kinds) => mute(sources, kinds),
      ended: () => {
        room.unpublish(publication);
        this.tellPublishers(admission.roomUid);
      },
    });
    const sections = new Map(offer.sections.map((section) => [section.mid, section]));
    const answer = await this.#answer(session, offer, firstCodecs(offer), (peer) => {
      peer.connection.onTrack((track) => {
        const { kind, codecs } = sections.get(track.mid())!;
        const source = new Source(kind, codecs[0]!, track);
        sources.set(kind, source);
        receive(track, this.#settings.limits.bitrate, (packet) => take(session, peer, source, packet));
      });
    });
    mute(sources, session.admission.muted);
    room.publish(publication);
    this.tellPublishers(admission.roomUid);
    return { session, answer };
  }

  /** A participant gets what another one publishes now, or will. */
  async subscribe({ admission, offer, address }: Entry, wanted: string | undefined): Promise<Opened> {
    for (const { kind } of offer.sections)
      demand(admission, kind === 'audio' ? 'subscribe.audio' : 'subscribe.video');
    const room = this.#rooms.get(admission.roomUid) ?? new Room();
    const of = wanted ?? room.publishers.find((name) => name !== admission.username);
    if (of === undefined)
      throw new Refused(409, 'NOTHING_PUBLISHED', 'nothing is published in this room yet');
    const chosen = codecsLike(room.find(of), offer);
    const receivers = new Map<Kind, Receiver>();
    const subscription: Subscription = { of, receivers };
    const session = this.#begin(admission, room, offer, address, {
      muted: () => undefined,
      ended: () => room.unsubscribe(subscription),
    });
    const connected = () => room.subscribe(subscription);
    const answer = await this.#answer(
      session,
      offer,
      new Map([...chosen].map(([mid, { payloadType }]) => [mid, payloadType])),
      (peer) => {
        const mayReceive = () => peer.isTrusted && !session.hasEnded;
        for (const { mid, kind } of offer.sections) {
          const sending = addSending(peer.connection, mid, kind, chosen.get(mid)!, session.id);
          receivers.set(kind, new Receiver(sending, mayReceive, session.participant));
        }
      },
      connected,
    );
    return { session, answer, publisher: of };
  }

  /** Every session ends; what was counted is on disk, and sent if the service answers in time. */
  async close(): Promise<void> {
    this.#isDraining = true;
    for (const session of this.#sessions.values()) session.end('DRAINING');
    await Promise.all([this.#feed.close(), this.#reporter.close()]);
    ndc.cleanup();
  }

  #begin(
    admission: Admission,
    room: Room,
    { fingerprint, candidates }: Offer,
    address: string,
    on: { readonly muted: (kinds: readonly string[]) => void; readonly ended: () => void },
  ): Session {
    const { roomUid, username, deviceThumbprint } = admission;
    this.#checkLimits(roomUid, candidates);
    const who = `${roomUid} ${username} ${deviceThumbprint}`;
    const participant =
      this.#participants.get(who) ?? new Participant(this.#reporter, admission, this.metrics);
    this.#participants.set(who, participant);
    this.#rooms.set(roomUid, room);
    const onEnd = (ended: Session, code: string) => {
      this.metrics.ended(code);
      this.#sessions.delete(ended.id);
      if (participant.leave(ended)) this.#participants.delete(who);
      on.ended();
      if (room.isEmpty) this.#rooms.delete(roomUid);
    };
    const session = new Session({ admission, address, fingerprint, participant, onEnd, onMute: on.muted });
    session.candidates = candidates;
    this.#sessions.set(session.id, session);
    return session;
  }

  #checkLimits(roomUid: string, candidates: number): void {
    const { limits } = this.#settings;
    if (this.#isDraining) throw new Refused(503, 'DRAINING', 'the relay is about to stop');
    if (this.#sessions.size >= limits.sessions) throw full('sessions');
    if (!this.#rooms.has(roomUid) && this.#rooms.size >= limits.rooms) throw full('rooms');
    if (candidates > limits.candidates)
      throw new Refused(400, 'OFFER_INVALID', 'the offer has too many candidates');
  }

  /** Fails with 400 if the library does not take the offer. */
  async #answer(
    session: Session,
    offer: Offer,
    payloadTypes: ReadonlyMap<string, number>,
    prepare: (peer: Peer) => void,
    connected: () => void = () => undefined,
  ): Promise<string> {
    const peer = new Peer(session.id, offer.fingerprint, this.#settings, {
      connected,
      impostor: () => session.end('DTLS_OTHER_CERTIFICATE'),
      lost: () => session.end('NETWORK'),
    });
    session.peer = peer;
    try {
      prepare(peer);
      return await peer.answer(offer.narrowTo(payloadTypes));
    } catch (cause) {
      session.end('OFFER_INVALID');
      throw new Refused(400, 'OFFER_INVALID', `the offer was not understood: ${(cause as Error).message}`);
    }
  }

  tellPublishers(roomUid: string): void {
    const publishers = this.#rooms.get(roomUid)?.publishers ?? [];
    for (const session of this.#sessions.values()) {
      if (session.admission.roomUid === roomUid) session.tell('publishers', { publishers });
    }
  }
}

/** A packet of a publisher. */
function take(session: Session, peer: Peer, source: Source, packet: Buffer | undefined): void {
  if (!peer.isTrusted || session.hasEnded) return;
  if (packet === undefined) session.end('TOO_FAST');
  else {
    session.participant.received(packet.length);
    source.take(packet);
  }
}

function firstCodecs({ sections }: Offer): Map<string, number> {
  return new Map(sections.map(({ mid, codecs }) => [mid, codecs[0]!.payloadType]));
}

/** For each section the codec of the publisher; where nothing of the kind is published yet, the first. */
function codecsLike(publication: Publication | undefined, { sections }: Offer): Map<string, Codec> {
  return new Map(
    sections.map(({ mid, kind, codecs }) => {
      const wanted = publication?.sources.get(kind)?.codec;
      const codec = wanted === undefined ? codecs[0] : codecs.find(({ name }) => name === wanted);
      if (!codec)
        throw new Refused(406, 'CODEC_NOT_SUPPORTED', `the ${kind} is ${wanted}, which the offer has not`);
      return [mid, codec];
    }),
  );
}

function mute(sources: ReadonlyMap<Kind, Source>, kinds: readonly string[]): void {
  for (const source of sources.values()) {
    const isMuted = kinds.includes(source.kind);
    if (source.isMuted === isMuted) continue;
    source.isMuted = isMuted;
    if (isMuted) source.pause();
    else source.askForKeyFrame();
  }
}

function demand({ capabilities }: Admission, capability: string): void {
  if (!capabilities.includes(capability))
    throw new Refused(403, 'NOT_ALLOWED', `the token does not allow ${capability}`);
}

const full = (what: string) => new Refused(503, 'FULL', `the relay has as many ${what} as it takes`);
