/** Tracks of the library: what comes in on one, and one to send on. */
import ndc, { type PeerConnection, type Track } from 'node-datachannel';
import type { Codec, Kind } from './offer.ts';

/** Hand on each packet of RTP and RTCP. The publisher is asked to send at most `bitrate` bits a second. */
export function receive(track: Track, bitrate: number, onPacket: (packet: Buffer) => void): void {
  track.setMediaHandler(new ndc.RtcpReceivingSession());
  track.onOpen(() => {
    // It may be closed again by now, and then the library would end the process.
    if (track.isOpen()) track.requestBitrate(bitrate);
  });
  track.onMessage(onPacket);
}

/** A track to one subscriber, and the names that its packets get. */
export interface Sending {
  readonly track: Track;
  readonly payloadType: number;
  readonly ssrc: number;
}

export function addSending(
  connection: PeerConnection,
  mid: string,
  kind: Kind,
  { name, payloadType }: Codec,
  stream: string,
): Sending {
  const media = name === 'opus' ? new ndc.Audio(mid, 'SendOnly') : new ndc.Video(mid, 'SendOnly');
  if (name === 'opus') (media as InstanceType<typeof ndc.Audio>).addOpusCodec(payloadType);
  else if (name === 'VP8') (media as InstanceType<typeof ndc.Video>).addVP8Codec(payloadType);
  else (media as InstanceType<typeof ndc.Video>).addH264Codec(payloadType);
  const ssrc = 1 + Math.floor(Math.random() * 0xffff_fffe);
  media.addSSRC(ssrc, stream, stream, kind);
  const track = connection.addTrack(media);
  return { track, payloadType, ssrc };
}
