/** Bodies of requests: which are refused before they are parsed, and how the others become values. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Failure, invalidRequest } from '../../base/failure.ts';
import { parseStrictJson } from '../../base/lib/strict-json.ts';
import { Turns } from '../../base/lib/turns.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { HeldBodies } from './held-bodies.ts';
import { BODIES_HELD_MAX, BODY_AT_ONCE_MAX } from './limits.ts';
import { limitAnswer } from './time-limits.ts';

type App = Pick<
  FastifyInstance,
  'addHook' | 'decorateRequest' | 'addContentTypeParser' | 'removeAllContentTypeParsers'
>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route takes no body. An empty one, or `{}`, is accepted. */
    emptyBody?: boolean;
    /** The body is optional, even with a Content-Type. */
    optionalBody?: boolean;
    /** Reads the body, a large one in turns, or resolves to `undefined` to leave it to the strict JSON reader. */
    readBody?: (request: FastifyRequest, bytes: Buffer, inTurn: InTurn) => Promise<unknown>;
  }
  interface FastifyRequest {
    /** Until its body is parsed: call it when the body needs no memory any more. */
    releaseBody: (() => void) | undefined;
  }
}

/** Does slices of work when it is the turn of the one who sent the request. */
export type InTurn = <T>(work: Generator<unknown, T>) => Promise<T>;

/** Bodies are parsed in less. */
const RETRY_AFTER_SECONDS = 2;

/** Whose turn it is to be read, and whether anyone can make another one like it. */
function senderOf({ caller, ip }: FastifyRequest) {
  return {
    owner: caller?.tenant ?? ip,
    isStranger: caller === undefined || caller.tenantStatus === 'pending',
  };
}

/** Refuses large bodies while those that arrive or wait to be parsed need too much memory. */
export function holdBodies(app: App): void {
  const held = new HeldBodies<TenantId | string>(BODIES_HELD_MAX);
  app.decorateRequest('releaseBody', undefined);
  app.addHook('preParsing', (request, reply, payload, done) => {
    const { owner, isStranger } = senderOf(request);
    const bytes = Math.min(
      announcedBytes(request),
      request.routeOptions.bodyLimit ?? Number.POSITIVE_INFINITY,
    );
    if (bytes > BODY_AT_ONCE_MAX) {
      const release = held.hold(owner, bytes, isStranger);
      if (!release) return done(new Failure('overloaded', { retryAfter: RETRY_AFTER_SECONDS }));
      request.releaseBody = release;
      reply.raw.once('close', () => request.releaseBody?.());
    }
    done(null, payload);
  });
}

/** A body in chunks may have any size. */
function announcedBytes({ headers }: FastifyRequest): number {
  const { 'content-length': length = 0, 'transfer-encoding': encoding } = headers;
  return encoding === undefined ? Number(length) : Number.POSITIVE_INFINITY;
}

/** In one slice. */
// biome-ignore lint/correctness/useYield: it is one slice
function* parseInTurn(bytes: Buffer): Generator<never, unknown> {
  return parseStrictJson(bytes);
}

/** Accepts JSON only, uncompressed, strictly parsed. Tenants, and clients without a key, take turns with large bodies. */
export function parseBodies(app: App): void {
  const turns = new Turns<TenantId | string>();
  const inTurnOf = (request: FastifyRequest): InTurn => {
    const { owner, isStranger } = senderOf(request);
    return (work) => turns.run(owner, work, isStranger);
  };
  const parse = (inTurn: InTurn, bytes: Buffer) =>
    bytes.length <= BODY_AT_ONCE_MAX ? parseStrictJson(bytes) : inTurn(parseInTurn(bytes));
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const encoding = request.headers['content-encoding'];
    const isPlain = encoding === undefined || encoding === 'identity';
    done(isPlain ? null : invalidRequest('the body may not be compressed'), payload);
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer) => {
      limitAnswer(request);
      requireUtf8(request);
      const { emptyBody, optionalBody, readBody } = request.routeOptions.config;
      if (bytes.length === 0 && (emptyBody || optionalBody)) return undefined;

      const inTurn = inTurnOf(request);
      const { releaseBody } = request;
      // What waits for its turn is in memory though its client may be gone.
      request.releaseBody = undefined;
      const read = async () => (await readBody?.(request, bytes, inTurn)) ?? (await parse(inTurn, bytes));
      const value = await read().finally(releaseBody);
      if (emptyBody && !isEmptyObject(value)) throw invalidRequest('this route takes no body');
      return value;
    },
  );
}

/** The charset of a Content-Type. */
function requireUtf8(request: FastifyRequest): void {
  const charset = /charset\s*=\s*"?([\w-]+)/i.exec(request.headers['content-type'] ?? '')?.[1];
  if (charset && charset.toLowerCase() !== 'utf-8') throw invalidRequest('charset must be utf-8');
}

/** A missing optional body becomes an empty one. */
export function fillOptionalBody(app: App): void {
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.routeOptions.config.optionalBody && request.body === undefined) request.body = {};
    done();
  });
}

function isEmptyObject(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0
  );
}
