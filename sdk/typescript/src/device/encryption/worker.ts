/**
 * The worker in which frames are encrypted and decrypted. It never passes on a frame in the clear: without a key, it drops
 * all of them.
 */
import { FrameDecryptor } from './frame-decryptor.ts';
import { FrameEncryptor } from './frame-encryptor.ts';
import type { Origin } from './frame-key.ts';
import { readCodec } from './frame-layout.ts';

/** What the page asks for with a transform. `number`: of a receiver. */
export type TransformOptions =
  | { readonly side: 'sender'; readonly origin: Origin }
  | { readonly side: 'receiver'; readonly number: number };

export type ToWorker =
  | { readonly type: 'key'; readonly key: CryptoKey }
  /** Whose media a receiver gets. */
  | { readonly type: 'origin'; readonly number: number; readonly origin: Origin };

export type FromWorker =
  | { readonly type: 'ready' }
  | { readonly type: 'key' }
  /** The frames of a receiver cannot be decrypted any more, or can be again. */
  | { readonly type: 'state'; readonly number: number; readonly isReadable: boolean };

/** An `RTCEncodedAudioFrame` or `RTCEncodedVideoFrame`. */
interface Frame {
  data: ArrayBuffer;
  getMetadata(): { readonly mimeType?: string };
}

/** An `RTCRtpScriptTransformer`. */
interface Transformer {
  readonly readable: ReadableStream<Frame>;
  readonly writable: WritableStream<Frame>;
  readonly options: TransformOptions;
}

type Change = (frame: Frame) => Promise<Uint8Array<ArrayBuffer> | undefined>;

/** The newest first. The one before it is for frames that are still on their way. */
let keys: readonly CryptoKey[] = [];
/** By the number of the receiver. */
const origins = new Map<number, Origin>();

const tell = (message: FromWorker) => postMessage(message);

function encryptAs(origin: Origin): Change {
  const encryptor = new FrameEncryptor(origin);
  return async (frame) => {
    const codec = readCodec(frame.getMetadata().mimeType);
    return keys[0] && codec && encryptor.encrypt(keys[0], codec, new Uint8Array(frame.data));
  };
}

function decryptFor(number: number): Change {
  let decryptor: FrameDecryptor | undefined;
  let wasReadable: boolean | undefined;
  return async (frame) => {
    const codec = readCodec(frame.getMetadata().mimeType);
    const origin = origins.get(number);
    if (!origin) return undefined;
    decryptor ??= new FrameDecryptor(origin);
    const plain = codec && (await decryptor.decrypt(keys, codec, new Uint8Array(frame.data)));
    const isReadable = plain !== undefined;
    if (isReadable !== wasReadable) tell({ type: 'state', number, isReadable });
    wasReadable = isReadable;
    return plain === 'replayed' ? undefined : plain;
  };
}

function run({ readable, writable, options }: Transformer): void {
  const change = options.side === 'sender' ? encryptAs(options.origin) : decryptFor(options.number);
  const frames = new TransformStream<Frame, Frame>({
    async transform(frame, controller) {
      if (frame.data.byteLength === 0) return;
      const changed = await change(frame);
      if (!changed) return;
      frame.data = changed.buffer;
      controller.enqueue(frame);
    },
  });
  // The stream ends with its connection.
  readable
    .pipeThrough(frames)
    .pipeTo(writable)
    .catch(() => undefined);
}

addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  if (data.type === 'origin') {
    origins.set(data.number, data.origin);
    return;
  }
  keys = [data.key, ...keys.slice(0, 1)];
  tell({ type: 'key' });
});
addEventListener('rtctransform', (event) =>
  run((event as Event & { readonly transformer: Transformer }).transformer),
);
tell({ type: 'ready' });
