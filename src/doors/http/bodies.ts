/** Bodies of requests: which are refused before they are parsed, and how the others become values. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { invalidRequest } from '../../base/failure.ts';
import { parseStrictJson } from '../../base/lib/strict-json.ts';
import { Turns } from '../../base/lib/turns.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { BODY_AT_ONCE_MAX } from './limits.ts';
import { limitAnswer } from './time-limits.ts';

type App = Pick<FastifyInstance, 'addHook' | 'addContentTypeParser' | 'removeAllContentTypeParsers'>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route takes no body. An empty one, or `{}`, is accepted. */
    emptyBody?: boolean;
    /** The body is optional, even with a Content-Type. */
    optionalBody?: boolean;
    /** Reads the body, a large one in turns, or resolves to `undefined` to leave it to the strict JSON reader. */
    readBody?: (request: FastifyRequest, bytes: Buffer, inTurn: InTurn) => Promise<unknown>;
  }
}

/** Does slices of work when it is the turn of the one who sent the request. */
export type InTurn = <T>(work: Generator<unknown, T>) => Promise<T>;

/** In one slice. */
// biome-ignore lint/correctness/useYield: it is one slice
function* parseInTurn(bytes: Buffer): Generator<never, unknown> {
  return parseStrictJson(bytes);
}

/** Accepts JSON only, uncompressed, strictly parsed. Tenants, and clients without a key, take turns with large bodies. */
export function parseBodies(app: App): void {
  const turns = new Turns<TenantId | string>();
  const inTurnOf = ({ caller, ip }: FastifyRequest): InTurn => {
    const isStranger = caller === undefined || caller.tenantStatus === 'pending';
    return (work) => turns.run(caller?.tenant ?? ip, work, isStranger);
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
      const value = (await readBody?.(request, bytes, inTurn)) ?? (await parse(inTurn, bytes));
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
