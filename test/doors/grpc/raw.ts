/** Raw HTTP/2, for input that no client library sends. */
import {
  type ClientHttp2Session,
  connect as connectHttp2,
  constants,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { connect } from 'node:net';
import { ErrorInfoSchema, StatusSchema } from '@boxoffice/contract/google/rpc/error_details';
import { fromBinary } from '@bufbuild/protobuf';
import { anyUnpack } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';

export interface RawEnding {
  /** The HTTP status; `undefined` if the stream was reset before. */
  readonly httpStatus: number | undefined;
  /** Name of the gRPC code. */
  readonly code: string | undefined;
  readonly message: string | undefined;
  /** From the details, if there are any. */
  readonly reason: string | undefined;
}

/** One message as gRPC frames it. */
export function frame(bytes: Uint8Array, { flag = 0, length = bytes.length } = {}): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flag, 0);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, bytes]);
}

export function session(port: number, settings = {}): ClientHttp2Session {
  const opened = connectHttp2(`http://127.0.0.1:${port}`, { settings });
  opened.on('error', () => {});
  return opened;
}

/** Send a body and wait for the end. The call itself stays open unless `isWhole`. */
export function post(
  client: ClientHttp2Session,
  path: string,
  body: Uint8Array,
  headers: OutgoingHttpHeaders = {},
  { isWhole = true } = {},
): Promise<RawEnding> {
  return new Promise((resolve) => {
    const stream = client.request({
      [constants.HTTP2_HEADER_METHOD]: 'POST',
      [constants.HTTP2_HEADER_PATH]: path,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    });
    let all: Record<string, unknown> = {};
    const keep = (more: object) => {
      all = { ...all, ...more };
    };
    stream
      .on('response', keep)
      .on('trailers', keep)
      .on('error', () => {})
      .on('end', () => stream.close())
      .resume();
    stream.on('close', () => {
      const code = all['grpc-status'];
      const message = all['grpc-message'];
      resolve({
        httpStatus: all[':status'] as number | undefined,
        code: code === undefined ? undefined : status[Number(code)],
        message: message === undefined ? undefined : decodeURI(String(message)),
        reason: reasonOf(all['grpc-status-details-bin']),
      });
    });
    if (isWhole) stream.end(body);
    else stream.write(body);
  });
}

function reasonOf(details: unknown): string | undefined {
  if (details === undefined) return undefined;
  const whole = fromBinary(StatusSchema, Buffer.from(String(details), 'base64'));
  return whole.details.map((any) => anyUnpack(any, ErrorInfoSchema)).find(Boolean)?.reason;
}

const HEADERS_FRAME = 1;
const DATA_FRAME = 0;
const END_STREAM = 1;
const END_HEADERS = 4;

/** A call with arbitrary headers. Returns everything that came back until the end. */
export function postHeaders(
  port: number,
  headers: readonly (readonly [string, string])[],
  body: Uint8Array,
): Promise<Buffer> {
  // Literal header fields without indexing (RFC 7541, 6.2.2), no Huffman coding.
  const block = Buffer.concat(
    headers.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]),
  );
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const received: Buffer[] = [];
    const end = () => resolve(Buffer.concat(received));
    socket.on('data', (bytes) => {
      received.push(bytes);
      // Trailers are the last frame of the stream: HEADERS that ends it.
      if (hasEnded(Buffer.concat(received))) socket.destroy();
    });
    socket.on('error', end).on('close', end);
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    socket.write(http2Frame(4, 0, 0, Buffer.alloc(0)));
    socket.write(http2Frame(HEADERS_FRAME, END_HEADERS, 1, block));
    socket.write(http2Frame(DATA_FRAME, END_STREAM, 1, body));
  });
}

/** A string in HPACK encoding; at most 16,510 bytes. */
function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  const length =
    bytes.length < 127
      ? [bytes.length]
      : [127, ((bytes.length - 127) & 127) | 128, (bytes.length - 127) >> 7];
  return Buffer.concat([Buffer.from(length), bytes]);
}

function http2Frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Whether the server has closed or reset stream 1. */
function hasEnded(bytes: Buffer): boolean {
  const RST_STREAM = 3;
  for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
    const [type, flags, stream] = [bytes[at + 3]!, bytes[at + 4]!, bytes.readUInt32BE(at + 5)];
    if (stream === 1 && (type === RST_STREAM || (type <= HEADERS_FRAME && flags & END_STREAM))) return true;
  }
  return false;
}
