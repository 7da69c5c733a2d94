/** What of a frame is encrypted, by codec: docs/encryption.md. */
import { clearBytesOfH264, escapeBytes, unescapeBytes, withoutStartCodes } from './h264.ts';

/** Those that can be encrypted. Packets of others need more of the frame than is left in the clear. */
export const CODECS = ['audio/opus', 'video/VP8', 'video/H264'] as const;
export type Codec = (typeof CODECS)[number];

export function readCodec(mimeType: string | undefined): Codec | undefined {
  return CODECS.find((codec) => codec.toLowerCase() === mimeType?.toLowerCase());
}

const VP8_KEY_FRAME_BYTES = 10;
const VP8_OTHER_BYTES = 3;

/** How many bytes at the beginning stay in the clear; `undefined`: it is no frame of the codec. */
export function clearBytes(codec: Codec, data: Uint8Array): number | undefined {
  if (codec === 'audio/opus') return 0;
  if (codec === 'video/H264') return clearBytesOfH264(data);
  const isKeyFrame = ((data[0] ?? 0) & 1) === 0;
  const bytes = isKeyFrame ? VP8_KEY_FRAME_BYTES : VP8_OTHER_BYTES;
  return bytes > data.length ? undefined : bytes;
}

/** What is authenticated beside the ciphertext: the kind of media, and the bytes in the clear. */
export function authenticated(codec: Codec, clear: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = codec === 'video/H264' ? withoutStartCodes(clear) : clear;
  return concat([new Uint8Array([codec.charCodeAt(0)]), bytes]);
}

/** Everything behind the bytes in the clear, as packets may carry it. */
export function pack(codec: Codec, rest: Uint8Array, clear: Uint8Array): Uint8Array {
  return codec === 'video/H264' ? escapeBytes(rest, clear) : rest;
}

/** The reverse of `pack()`. */
export function unpack(codec: Codec, rest: Uint8Array, clear: Uint8Array): Uint8Array {
  return codec === 'video/H264' ? unescapeBytes(rest, clear) : rest;
}

export function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
