/**
 * Files that are the same for everyone: scripts and styles of pages, and the description of the interface.
 *
 * Each is held once, compressed once, by its first reader, and sent from there, so that a thousand slow readers of
 * a large file cost a thousand sockets and no copy of it.
 */
import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Coding, chooseCoding, compress } from './compression.ts';

/** The highest takes seconds for a megabyte, and gains a tenth. */
const BROTLI_QUALITY = 9;

export class StaticFile {
  readonly type: string;
  /** Changes with the content. */
  readonly version: string;
  readonly bytes: Buffer;
  readonly #compressed = new Map<Coding, Promise<Buffer>>();

  constructor(type: string, content: string | Buffer) {
    this.type = type;
    this.bytes = typeof content === 'string' ? Buffer.from(content) : content;
    this.version = hash('sha256', this.bytes, 'hex').slice(0, 12);
  }

  codingFor(accepted: string | undefined): Coding | undefined {
    // Compressed already.
    if (this.type === 'image/png') return undefined;
    return chooseCoding(accepted, this.bytes.length);
  }

  in(coding: Coding | undefined): Promise<Buffer> {
    if (coding === undefined) return Promise.resolve(this.bytes);
    const known = this.#compressed.get(coding);
    if (known) return known;
    const compressing = compress(this.bytes, coding, BROTLI_QUALITY);
    this.#compressed.set(coding, compressing);
    return compressing;
  }

  tagOf(coding: Coding | undefined): string {
    return `"${this.version}${coding === undefined ? '' : `-${coding}`}"`;
  }
}

/** Its address names the version, so it may be kept for ever. */
export const FOR_EVER = 'public, max-age=31536000, immutable';
const FOR_AN_HOUR = 'public, max-age=3600';
/** Asked for again each time, and sent only if it has changed. */
export const REVALIDATED = 'public, no-cache';

/** For a file whose address may name its version, by `?v=`. */
export type VersionedRequest = FastifyRequest<{ Querystring: { v?: string } }>;

export function cacheOf({ query }: VersionedRequest, { version }: StaticFile): string {
  return query.v === version ? FOR_EVER : FOR_AN_HOUR;
}

/** Without its query, and without a slash at its end. */
export function pathOf({ url }: Pick<FastifyRequest, 'url'>): string {
  return url.replace(/\?.*$/s, '').replace(/(?<=.)\/$/, '');
}

/** `vary`: the headers that choose what is at the address. */
export function sendStatic(
  reply: FastifyReply,
  file: StaticFile,
  cacheControl: string,
  vary = 'accept-encoding',
): FastifyReply {
  const { headers } = reply.request;
  const coding = file.codingFor(headers['accept-encoding']);
  const tag = file.tagOf(coding);
  reply.header('etag', tag).header('vary', vary).header('cache-control', cacheControl);
  if (isKnown(tag, headers['if-none-match'])) return reply.code(304).send();
  reply.type(file.type).header('x-content-type-options', 'nosniff');
  if (coding !== undefined) reply.header('content-encoding', coding);
  void file.in(coding).then(
    (bytes) => reply.send(bytes),
    (error: unknown) => reply.send(error),
  );
  return reply;
}

/** Source: RFC 9110, 13.1.2. A tag that a proxy made weak names the same content. */
function isKnown(tag: string, ifNoneMatch: string | undefined): boolean {
  const known = (ifNoneMatch ?? '').split(',').map((each) => each.trim().replace(/^W\//, ''));
  return known.includes(tag) || known.includes('*');
}
