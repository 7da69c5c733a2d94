/** The relay: sessions in rooms, and what moves media between them. */
import { randomInt } from 'node:crypto';
import {
  type Admission,
  createTokenVerifier,
  followRevocations,
  openUsageReporter,
  type RevocationFeed,
  type TokenVerifier,
  type UsageReporter,
} from '../../sdk/typescript/src/relay/index.ts';
import { Demux } from './demux.ts';
import { ENCRYPTION_FORMAT, EncryptionGuard } from './encryption-guard.ts';
import { type Counts, Metrics } from './metrics.ts';
import type { Chosen, Codec, Kind, Offer } from './offer.ts';
import { Participant } from './participant.ts';
import { Peer } from './peer.ts';
import { makeRoom } from './places.ts';
import { Problems } from './problems.ts';
import { Refused } from './refused.ts';
import { type Publication, Receiver, Room, Source, type Subscription } from './room.ts';
import { feedbackIn, isRtcp } from './rtcp.ts';
import { readRtp } from './rtp.ts';
import { Session } from './session.ts';
import type { Settings } from './settings.ts';

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

/** What a session does with the packets of its participant. */
interface Media {
  /** Before the offer is answered. */
  readonly prepare: (peer: Peer) => void;
  /** A packet of RTP or RTCP. */
  readonly heard: (packet: Buffer, peer: Peer) => void;
  readonly connected: () => void;
}

/** Without revocations the relay refuses all. If the service is away for longer, the relay says so itself. */
const FIRST_REVOCATIONS_MS_MAX = 5_000;

/** The longest wait of a record on the disk for others, if the service answers. */
const BATCH_SECONDS = 5;

export class Relay {
  readonly verifier: TokenVerifier;
  readonly metrics = new Metrics(() => this.counts);
  readonly #settings: Settings;
  readonly #reporter: UsageReporter;
  readonly #feed: RevocationFeed;
  readonly #problems: Problems;
  readonly #knowsRevocations = Promise.withResolvers<void>();
  readonly #rooms = new Map<string, Room>();
  readonly #sessions = new Map<string, Session>();
  readonly #participants = new Map<string, Participant>();
  #isDraining = false;

  private constructor(settings: Settings, reporter: UsageReporter, problems: Problems) {
    const { service, issuer, tenant, key } = settings;
    const ours = {
      issuer,
      audience: `relay:${new URL(issuer).host}`,
      jwksUrl: `${service}/.well-known/jwks.json`,
    };
    this.#settings = settings;
    this.#reporter = reporter;
    this.#problems = problems;
    this.#feed = followRevocations({
      ...ours,
      url: service,
      tenants: [tenant],
      relayKey: () => key,
      onError: problems.revocations,
      onChange: (_tenant, revocations) => {
        problems.revocationsCame();
        this.#knowsRevocations.resolve();
        for (const session of this.#sessions.values()) session.check(revocations);
      },
      onBudgets: () => {
        for (const session of this.#sessions.values()) {
          if (this.#feed.budgetReached(tenant, session.budgets)) session.end('BUDGET_REACHED');
        }
      },
    });
    this.verifier = createTokenVerifier({
      ...ours,
      tenants: new Set([tenant]),
      revocations: this.#feed.get,
      admitted: () => this.#feed.admitted(tenant) ?? reporter.admitted !== false,
      budgetReached: this.#feed.budgetReached,
    });
  }

  /** Resolves when it can admit, or the service has not answered for long. */
  static async open(settings: Settings): Promise<Relay> {
    const { service: url, key, spool, relayId, reportSeconds: intervalSeconds } = settings;
    const batchSeconds = Math.min(BATCH_SECONDS, intervalSeconds);
    const problems = new Problems(console.error);
    const onEvent = problems.usage;
    const reporter = await openUsageReporter({
      url,
      key,
      spool,
      relayId,
      intervalSeconds,
      batchSeconds,
      onEvent,
    });
    const relay = new Relay(settings, reporter, problems);
    const timer = setTimeout(relay.#knowsRevocations.resolve, FIRST_REVOCATIONS_MS_MAX);
    await relay.#knowsRevocations.promise;
    clearTimeout(timer);
    return relay;
  }

  /** Why the service refuses the relay's key. While its stream tells whom to admit, it takes the key. */
  get keyProblem(): string | undefined {
    return this.#feed.admitted(this.#settings.tenant) === undefined ? this.#problems.ofKey : undefined;
  }

  get counts(): Counts {
    return { sessions: this.#sessions.size, rooms: this.#rooms.size, participants: this.#participants.size };
  }

  find(id: string): Session | undefined {
    return this.#sessions.get(id);
  }

  /** A participant sends what its token allows. `encryption`: the format in which it says that it encrypts. */
  async publish({ admission, offer, address }: Entry, encryption: string | undefined): Promise<Opened> {
    for (const { kind } of offer.sections) demand(admission, `publish.${kind}`);
    if (admission.e2eeRequired && encryption !== ENCRYPTION_FORMAT)
      throw new Refused(403, 'ENCRYPTION_REQUIRED', 'this room takes only media with end-to-end encryption');
    const room = this.#rooms.get(admission.roomUid) ?? new Room();
    const sources = new Map<Kind, Source>();
    const replaced = () => session.end('REPLACED');
    const publication: Publication = { username: admission.username, sources, replaced };
    const session = this.#begin(admission, room, offer, address, {
      published: offer.sections.map(({ kind }) => kind),
      muted: (kinds) => mute(sources, kinds),
      ended: () => {
        room.unpublish(publication);
        this.tellPublishers(admission.roomUid);
      },
    });
    const chosen = chooseCodecs(offer);
    const demux = new Demux(offer.sections, sources);
    const { bitrate } = this.#settings.limits;
    const answer = await this.#answer(session, offer, chosen, {
      prepare: (peer) => {
        for (const { mid, kind } of offer.sections) {
          const guard = admission.e2eeRequired ? new EncryptionGuard() : undefined;
          const source = new Source(kind, chosen.get(mid)!.codec, (packet) => peer.send(packet), guard);
          source.isMuted = session.withheld.includes(kind);
          sources.set(kind, source);
        }
      },
      heard: (packet, peer) => {
        const report = isRtcp(packet) ? demux.answer(packet, bitrate) : undefined;
        if (report) peer.send(report);
        const header = isRtcp(packet) ? undefined : readRtp(packet);
        if (!header) return;
        session.participant.received(packet.length);
        const source = demux.take(header);
        const problem = source === 'TOO_FAST' ? source : source?.take(packet, header);
        if (problem !== undefined) session.end(problem);
      },
      // Not before: an offer that leads to no connection would silence what the participant publishes already.
      connected: () => {
        room.publish(publication);
        this.tellPublishers(admission.roomUid);
      },
    });
    return { session, answer };
  }

  /** A participant gets what another one publishes now, or will. */
  async subscribe({ admission, offer, address }: Entry, wanted: string | undefined): Promise<Opened> {
    for (const { kind } of offer.sections) demand(admission, rightToGet(kind));
    const room = this.#rooms.get(admission.roomUid) ?? new Room();
    const of = wanted ?? room.publishers.find((name) => name !== admission.username);
    if (of === undefined || !room.find(of))
      throw new Refused(409, 'NOTHING_PUBLISHED', 'nothing is published yet');
    const codecs = chooseCodecs(offer, room.find(of));
    const chosen = new Map([...codecs].map(([mid, each]) => [mid, { ...each, ssrc: randomInt(2, 2 ** 32) }]));
    const receivers = new Map<Kind, Receiver>();
    const subscription: Subscription = { of, receivers, recoded: () => session.end('CODEC_CHANGED') };
    const session = this.#begin(admission, room, offer, address, {
      published: [],
      muted: () => undefined,
      ended: () => room.unsubscribe(subscription),
    });
    const answer = await this.#answer(session, offer, chosen, {
      prepare: (peer) => {
        for (const { mid, kind } of offer.sections) {
          const right = rightToGet(kind);
          const { codec, ssrc } = chosen.get(mid)!;
          const recipient = {
            send: (packet: Buffer) => peer.send(packet),
            meter: session.participant,
            mayGet: () => session.admission.capabilities.includes(right),
          };
          receivers.set(kind, new Receiver(codec, ssrc, recipient));
        }
      },
      heard: (packet) => {
        for (const { ssrc, missing } of isRtcp(packet) ? feedbackIn(packet) : []) {
          const [kind, receiver] = [...receivers].find(([, each]) => each.ssrc === ssrc) ?? [];
          if (missing) receiver?.resend(missing);
          else if (kind) room.find(of)?.sources.get(kind)?.askForKeyFrame();
        }
      },
      connected: () => room.subscribe(subscription),
    });
    return { session, answer, publisher: of };
  }

  /** Every session ends; what was counted is on disk, and sent if the service answers in time. */
  async close(): Promise<void> {
    this.#isDraining = true;
    for (const session of this.#sessions.values()) session.end('DRAINING');
    await Promise.all([this.#feed.close(), this.#reporter.close()]);
  }

  #begin(
    admission: Admission,
    room: Room,
    { fingerprint, candidates }: Offer,
    address: string,
    on: {
      readonly published: readonly Kind[];
      readonly muted: (withheld: readonly string[]) => void;
      readonly ended: () => void;
    },
  ): Session {
    const { tenant, roomUid, username, deviceThumbprint } = admission;
    if (this.#isDraining) throw new Refused(503, 'DRAINING', 'the relay is about to stop');
    if (candidates > this.#settings.limits.candidates)
      throw new Refused(400, 'OFFER_INVALID', 'the offer has too many candidates');
    makeRoom([...this.#sessions.values()], { admission, address }, this.#settings.limits);
    const who = `${roomUid} ${username} ${deviceThumbprint}`;
    const { bitrate } = this.#settings.limits;
    const participant =
      this.#participants.get(who) ?? new Participant(this.#reporter, admission, bitrate, this.metrics);
    this.#participants.set(who, participant);
    this.#rooms.set(roomUid, room);
    const onEnd = (ended: Session, code: string) => {
      this.metrics.ended(code);
      this.#sessions.delete(ended.id);
      if (participant.leave(ended)) this.#participants.delete(who);
      room.sessions.delete(ended);
      on.ended();
      if (room.sessions.size === 0) this.#rooms.delete(roomUid);
    };
    const { published, muted: onMute } = on;
    const challenge = () => this.verifier.challenge();
    const about = { admission, address, fingerprint, participant, published };
    const session = new Session({ ...about, challenge, onEnd, onMute });
    session.candidates = candidates;
    this.#sessions.set(session.id, session);
    room.sessions.add(session);
    // It may have been revoked while the proof was checked.
    const newest = this.#feed.get(tenant);
    if (newest) session.check(newest);
    return session;
  }

  /** Fails with 400 if the library does not take the offer, and if the session has ended meanwhile. */
  async #answer(
    session: Session,
    offer: Offer,
    chosen: ReadonlyMap<string, Chosen>,
    { prepare, heard, connected }: Media,
  ): Promise<string> {
    if (session.endCode !== undefined) throw ended(session.endCode);
    const peer = new Peer(session.id, offer.fingerprint, this.#settings, {
      // The library may tell of it after the session has ended.
      connected: () => {
        if (!session.hasEnded) connected();
      },
      heard: (packet) => {
        if (mayCome(session, packet)) heard(packet, peer);
      },
      impostor: () => session.end('DTLS_OTHER_CERTIFICATE'),
      lost: () => session.end('NETWORK'),
    });
    session.peer = peer;
    try {
      prepare(peer);
      const transport = await peer.answer(offer.transport);
      if (session.endCode === undefined) return offer.answer(transport, chosen);
    } catch (cause) {
      if (session.endCode === undefined) {
        session.end('OFFER_INVALID');
        throw new Refused(400, 'OFFER_INVALID', `the offer was not understood: ${(cause as Error).message}`);
      }
    }
    throw ended(session.endCode);
  }

  /** `sessions`: default: all of the room. */
  tellPublishers(roomUid: string, sessions?: Iterable<Session>): void {
    const room = this.#rooms.get(roomUid);
    for (const session of sessions ?? room?.sessions ?? [])
      session.tell('publishers', { publishers: room?.publishers ?? [] });
  }
}

const rightToGet = (kind: Kind) => (kind === 'audio' ? 'subscribe.audio' : 'subscribe.video');

/** Whether a packet of the participant counts. Beyond what it may send, its session ends. */
function mayCome(session: Session, packet: Buffer): boolean {
  if (session.participant.allowance.take(packet.length)) return true;
  session.end('TOO_FAST');
  return false;
}

/** For each section the codec of the publisher; where nothing of the kind is published yet, the first. */
function chooseCodecs(
  { sections }: Offer,
  publication?: Publication,
): Map<string, { readonly codec: Codec }> {
  return new Map(
    sections.map(({ mid, kind, codecs }) => {
      const wanted = publication?.sources.get(kind)?.codec;
      const codec = wanted === undefined ? codecs[0] : codecs.find(({ name }) => name === wanted);
      if (!codec)
        throw new Refused(406, 'CODEC_NOT_SUPPORTED', `the ${kind} is ${wanted}, which the offer has not`);
      return [mid, { codec }];
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

/** The refusal of an offer whose session ended before it was answered. */
function ended(code: string): Refused {
  return new Refused(['DRAINING', 'NETWORK'].includes(code) ? 503 : 403, code, 'the session has ended');
}
