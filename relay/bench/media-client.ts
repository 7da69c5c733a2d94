/** Senders and receivers of made-up video, without a browser, for measurements. */
import ndc, { type PeerConnection, type Track } from 'node-datachannel';

/** With `hasAudio`, there is a second track, over which nothing is sent. */
export interface MediaClientOptions {
  readonly hasAudio?: boolean;
}

/** Sends an offer to the relay, and resolves with its answer. */
export type Exchange = (offer: string, fingerprint: string) => Promise<string>;

export interface MediaClient {
  /** Resolved when media can flow. */
  readonly opened: Promise<void>;
  /** Whether the other side has ended it. */
  isClosed(): boolean;
  /** A packet of RTP or RTCP. */
  send(packet: Buffer): void;
  close(): void;
}

const PAYLOAD_TYPE = 96;
const AUDIO_PAYLOAD_TYPE = 111;
export const SSRC = 4_711;

export async function openMediaClient(
  direction: 'SendOnly' | 'RecvOnly',
  exchange: Exchange,
  onPacket: (packet: Buffer) => void,
  { hasAudio = false }: MediaClientOptions = {},
): Promise<MediaClient> {
  const peer = new ndc.PeerConnection('client', {
    iceServers: [],
    bindAddress: '127.0.0.1',
    disableAutoNegotiation: true,
  });
  const media = new ndc.Video('0', direction);
  media.addVP8Codec(PAYLOAD_TYPE);
  if (direction === 'SendOnly') media.addSSRC(SSRC, 'bench');
  const track: Track = peer.addTrack(media);
  if (hasAudio) {
    const sound = new ndc.Audio('1', direction);
    sound.addOpusCodec(AUDIO_PAYLOAD_TYPE);
    peer.addTrack(sound);
  }
  const opened = Promise.withResolvers<void>();
  track.onOpen(opened.resolve);
  track.onMessage(onPacket);
  const offer = await offerOf(peer);
  const [, fingerprint] = /^a=fingerprint:sha-256 (\S+)/im.exec(offer)!;
  // Without candidates, so that the relay does not begin its checks before this side knows the answer.
  const answer = await exchange(offer.replace(/a=candidate:.*\r\n/g, ''), fingerprint!);
  peer.setRemoteDescription(answer, 'answer');
  return {
    opened: opened.promise,
    isClosed: () => track.isClosed(),
    send: (packet) => void track.sendMessageBinary(packet),
    close: () => peer.close(),
  };
}

async function offerOf(peer: PeerConnection): Promise<string> {
  const gathered = Promise.withResolvers<void>();
  peer.onGatheringStateChange((state) => {
    if (state === 'complete') gathered.resolve();
  });
  peer.setLocalDescription('offer');
  await gathered.promise;
  return peer.localDescription()!.sdp;
}

export const closeMediaClients = (): void => ndc.cleanup();
