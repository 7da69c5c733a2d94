/** Reads requests and writes answers. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError } from './errors.ts';

const BODY_BYTES_MAX = 1024 * 1024;

/** The body as text. Throws an `ApiError` (413) if it is longer than 1 MiB. */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) {
      throw new ApiError(413, 'invalid_request_error', 'The request body is too large.', {}, 'validation');
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** One header as text. Repeated headers are not expected and count as absent. */
export function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

export interface Reply {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export function json(status: number, value: unknown, headers: Record<string, string> = {}): Reply {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(value, null, 2),
  };
}

export function send(response: ServerResponse, reply: Reply): void {
  response.writeHead(reply.status, {
    'content-length': Buffer.byteLength(reply.body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...reply.headers,
  });
  response.end(reply.body);
}
