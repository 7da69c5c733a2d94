/** Tracks of the library: what comes in on one, and one to send on. */
import ndc, { type PeerConnection, type Track } from 'node-datachannel';
import type { Codec, Kind } from './offer.ts';
import { asksForKeyFrame, isRtcp, type RtpHeader, readRtp } from './rtp.ts';

/** What comes in on a track. */
export interface Incoming {
  packet(bytes: Buffer, header: RtpHeader): void;
  /** Instead of a packet beyond the allowed rate. */
  tooFast(): void;
}

/**
 * Hand on each packet of RTP, at most `bitrate` bits a second, twice that for a second: browsers send more after a key
 * frame.
 */
export function receive(track: Track, bitrate: number, incoming: Incoming): void {
  track.setMediaHandler(new ndc.RtcpReceivingSession());
  track.onOpen(() => {
    // It may be closed again by now, and then the library would end the process.
    if (track.isOpen()) track.requestBitrate(bitrate);
  });
  const burst = (2 * bitrate) / 8;
  let allowance = burst;
  let at = performance.now();
  track.onMessage((packet) => {
    const header = isRtcp(packet) ? undefined : readRtp(packet);
    if (!header) return;
    const now = performance.now();
    allowance = Math.min(burst, allowance + ((now - at) * bitrate) / 8_000) - packet.length;
    at = now;
    if (allowance < 0) incoming.tooFast();
    else incoming.packet(packet, header);
  });
}

/** A track to one subscriber, and the names that its packets get. */
export interface Sending {
  readonly track: Track;
  readonly payloadType: number;
  readonly ssrc: number;
}

/** `keyFrameWanted`: what the subscriber has lost needs a new picture. */
export function addSending(
  connection: PeerConnection,
  mid: string,
  kind: Kind,
  { name, payloadType }: Codec,
  stream: string,
  keyFrameWanted: () => void,
): Sending {
  const media = name === 'opus' ? new ndc.Audio(mid, 'SendOnly') : new ndc.Video(mid, 'SendOnly');
  if (name === 'opus') (media as InstanceType<typeof ndc.Audio>).addOpusCodec(payloadType);
  else if (name === 'VP8') (media as InstanceType<typeof ndc.Video>).addVP8Codec(payloadType);
  else (media as InstanceType<typeof ndc.Video>).addH264Codec(payloadType);
  const ssrc = 1 + Math.floor(Math.random() * 0xffff_fffe);
  media.addSSRC(ssrc, stream, stream, kind);
  const track = connection.addTrack(media);
  // Sends again what browsers miss.
  track.setMediaHandler(new ndc.RtcpNackResponder());
  track.onMessage((packet) => {
    if (isRtcp(packet) && asksForKeyFrame(packet)) keyFrameWanted();
  });
  return { track, payloadType, ssrc };
}
