/**
 * What a browser's offer asks for, and the part of it that this relay answers: Opus, VP8 and H.264, one layer of each
 * stream, without header extensions. The library only learns how to connect.
 */
import { isIP } from 'node:net';
import { parse, write } from 'sdp-transform';
import type { VideoCodec } from './frame-size.ts';
import { Refused } from './refused.ts';

export type Kind = 'audio' | 'video' | 'screen';

export interface Codec {
  readonly name: 'opus' | VideoCodec;
  readonly payloadType: number;
}

export interface Section {
  readonly mid: string;
  readonly kind: Kind;
  /** Those of the offer that this relay forwards, the sender's favourite first. */
  readonly codecs: readonly Codec[];
  /** The numbers of its senders, as far as the offer has them. */
  readonly ssrcs: readonly number[];
}

/** How a section is answered. */
export interface Chosen {
  readonly codec: Codec;
  /** The sender of what the relay sends, if it sends. */
  readonly ssrc?: number;
}

export interface Offer {
  /** SHA-256 of the certificate, lower-case pairs of hex with colons. */
  readonly fingerprint: string;
  readonly sections: readonly Section[];
  readonly candidates: number;
  /**
   * The offer as the library gets it: with one section, in place of all, which share a connection (RFC 8843). With several,
   * libdatachannel 0.24 reads reports (RTCP) itself, and loops for ever over a malformed one.
   */
  readonly transport: string;
  /** The answer to all sections, from the library's to the one; `chosen` by their `mid`. */
  answer(transport: string, chosen: ReadonlyMap<string, Chosen>): string;
}

type Sdp = ReturnType<typeof parse>;
type Media = Sdp['media'][number];

/** The name of the library's only section. */
export const TRANSPORT_MID = '0';

/** `direction`: of the browser. Fails with 400 for what is no offer, and 406 for what this relay does not carry. */
export function readOffer(text: string, direction: 'sendonly' | 'recvonly'): Offer {
  const sdp = parseSdp(text);
  const media = sdp.media.filter((each) => ['audio', 'video'].includes(each.type) && isOffered(each));
  if (media.length === 0) throw new Refused(400, 'OFFER_INVALID', 'the offer has no audio and no video');
  const fingerprint = fingerprintOf([sdp, ...sdp.media]);
  const sections = media.map((each) => sectionOf(each, direction));
  if (new Set(sections.map(({ mid }) => mid)).size < sections.length)
    throw new Refused(400, 'OFFER_INVALID', 'each section must have a mid of its own');
  for (const [at, { kind }] of sections.entries()) {
    const isTwice = sections.findIndex((other) => other.kind === kind) !== at;
    if (isTwice) throw new Refused(406, 'OFFER_TOO_MUCH', `the offer has more than one ${kind}`);
  }
  return {
    fingerprint,
    sections,
    candidates: readCandidates(text).length,
    transport: transportOf(sdp, media),
    answer: (transport, chosen) => {
      const { media: ours, ...head } = parse(transport);
      const answered = media.map((each, at) => {
        const { mid } = sections[at]!;
        return { ...answerTo(each, ours[0]!, chosen.get(mid)!), mid };
      });
      const groups = [{ type: 'BUNDLE', mids: sections.map(({ mid }) => mid).join(' ') }];
      return write({ ...head, groups, media: answered });
    },
  };
}

/** Port 0 refuses a section, unless it shares the port of the first one (RFC 8843, 6). */
function isOffered(media: Media): boolean {
  return media.port !== 0 || (media as { bundleOnly?: string }).bundleOnly !== undefined;
}

function parseSdp(text: string): Sdp {
  const invalid = () => new Refused(400, 'OFFER_INVALID', 'the body is no SDP offer');
  if (!text.startsWith('v=0')) throw invalid();
  try {
    return parse(text);
  } catch {
    throw invalid();
  }
}

/** Two certificates in one offer would let one pass the proof and the other carry the media. */
function fingerprintOf(parts: readonly { readonly fingerprint?: { type: string; hash: string } }[]): string {
  const found = parts.flatMap(({ fingerprint }) => fingerprint ?? []);
  const hashes = new Set(found.map(({ type, hash }) => `${type.toLowerCase()} ${hash.toLowerCase()}`));
  const [only, ...others] = hashes;
  const [, hash] = /^sha-256 ([0-9a-f]{2}(?::[0-9a-f]{2}){31})$/.exec(only ?? '') ?? [];
  if (hash === undefined || others.length > 0) {
    throw new Refused(400, 'OFFER_INVALID', 'the offer must have one fingerprint, of SHA-256');
  }
  return hash;
}

function sectionOf(media: Media, direction: string): Section {
  const mid = media.mid === undefined ? '' : String(media.mid);
  if (!/^[\w-]{1,16}$/.test(mid)) throw new Refused(400, 'OFFER_INVALID', 'each section must have a mid');
  const isMeant =
    media.direction === undefined || media.direction === direction || media.direction === 'sendrecv';
  if (!isMeant) throw new Refused(400, 'OFFER_INVALID', `the offer must be ${direction}`);
  const isScreen = (media as { content?: string }).content === 'slides';
  const kind = media.type === 'audio' ? 'audio' : isScreen ? 'screen' : 'video';
  const wanted = kind === 'audio' ? (['opus'] as const) : (['VP8', 'H264'] as const);
  const codecs = media.rtp.flatMap(({ payload, codec }) => {
    const name = wanted.find((each) => each.toLowerCase() === codec.toLowerCase());
    return name !== undefined && isSimple(media, payload) ? [{ name, payloadType: payload }] : [];
  });
  if (codecs.length === 0)
    throw new Refused(406, 'CODEC_NOT_SUPPORTED', `no codec of the ${kind} is carried here`);
  return { mid, kind, codecs, ssrcs: (media.ssrcs ?? []).map(({ id }) => Number(id)) };
}

/** Takes of H.264 what every browser decodes: the constrained baseline, in fragments. */
function isSimple({ rtp, fmtp }: Media, payload: number): boolean {
  if (rtp.find((each) => each.payload === payload)!.codec.toUpperCase() !== 'H264') return true;
  const config = fmtp.find((each) => each.payload === payload)?.config ?? '';
  return config.includes('packetization-mode=1') && /profile-level-id=42[ce]0/i.test(config);
}

/** The codec means nothing: the library only carries packets. */
function transportOf({ version, origin, name, timing, ...session }: Sdp, media: readonly Media[]): string {
  const { iceUfrag, icePwd, fingerprint, setup } = { ...session, ...media[0]! };
  const candidates = media.flatMap((each) => each.candidates ?? []).filter(({ ip }) => isIP(ip) !== 0);
  const only = {
    ...{ type: 'video', port: 9, protocol: 'UDP/TLS/RTP/SAVPF', payloads: '96' },
    ...{ mid: TRANSPORT_MID, direction: 'sendrecv' as const, rtcpMux: 'rtcp-mux' },
    ...{
      connection: { version: 4, ip: '0.0.0.0' },
      rtp: [{ payload: 96, codec: 'VP8', rate: 90_000 }],
      fmtp: [],
    },
    ...{ iceUfrag, icePwd, fingerprint: fingerprint ?? session.fingerprint, setup, candidates },
  };
  return write({ version, origin, name, timing, media: [only as Media] } as Sdp);
}

/** With one codec, and the feedback that this relay gives. */
function answerTo(offered: Media, ours: Media, { codec: { payloadType }, ssrc }: Chosen): Media {
  const { type, protocol, rtp, fmtp, rtcpFb = [] } = offered;
  const ofCodec = ({ payload }: { readonly payload: number | string }) => payload === payloadType;
  const stream = String(ssrc);
  return {
    ...ours,
    ...{
      type,
      protocol,
      payloads: String(payloadType),
      rtp: rtp.filter(ofCodec),
      fmtp: fmtp.filter(ofCodec),
    },
    rtcpFb: rtcpFb.filter((each) => ofCodec(each) && ['nack', 'goog-remb'].includes(each.type)),
    direction: ssrc === undefined ? 'recvonly' : 'sendonly',
    ...(ssrc !== undefined && {
      msid: [{ id: stream, appdata: type }],
      ssrcs: [{ id: ssrc, attribute: 'cname', value: stream }],
    }),
  } as Media;
}

/**
 * Whether a candidate is for the library, which would look up its name, in a thread for each. What is not understood is: it
 * says so.
 */
export function isAddressed(candidate: string): boolean {
  const [, , , , host] = candidate.split(' ');
  return host === undefined || isIP(host) !== 0;
}

/** The candidates of a trickled fragment (RFC 8840), or of an offer. All sections share them. */
export function readCandidates(fragment: string): string[] {
  return fragment.split(/\r?\n/).flatMap((line) => (line.startsWith('a=candidate:') ? line.slice(2) : []));
}
