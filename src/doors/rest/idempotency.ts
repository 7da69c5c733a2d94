/**
 * `Idempotency-Key`: a write that is sent again, because its answer was lost, gets the first answer and has no second
 * effect. Source: the IETF draft "The Idempotency-Key HTTP Header Field".
 */
import type { FastifyRequest } from 'fastify';
import type { AuthenticatedCaller } from '../../access/keys/authenticate.ts';
import { rightsOf } from '../../access/rights/key-ceiling.ts';
import { invalidField } from '../../base/failure.ts';
import { KEPT_HOURS, type Mutation } from '../../base/idempotency/once.ts';
import { canonicalJson } from '../../base/lib/canonical-json.ts';
import { Type } from '../../base/lib/schema.ts';
import { countHeader } from '../http/http.ts';
import { IDEMPOTENCY_KEY_MAX } from './limits.ts';

const HEADER = 'Idempotency-Key';

/** The header, for the schema of a write. What its value may be is checked by `keyOf()`, whose errors say more. */
export const IdempotencySchema = Type.Object({
  [HEADER]: Type.Optional(
    Type.String({
      description:
        `A new random text for each change, and the same one when the request is sent again: it then gets the first ` +
        `answer, for ${KEPT_HOURS} hours. 1 to ${IDEMPOTENCY_KEY_MAX} visible ASCII characters, bare or in quotes`,
    }),
  ),
});

/** The change that a request asks for: who asks, where, and for what. */
export function mutationOf(request: FastifyRequest, caller: AuthenticatedCaller): Mutation {
  const { params, query, body } = request;
  return {
    tenant: caller.tenant,
    ...rightsOf(caller),
    key: keyOf(request),
    method: `${request.method} ${request.routeOptions.url}`,
    request: Buffer.from(canonicalJson({ params, query, body: body ?? {} })),
  };
}

/** The key in the header. A string of a structured field, which has quotes, is the same key as without them. */
function keyOf({ raw, headers }: FastifyRequest): string | undefined {
  const value = headers[HEADER.toLowerCase()];
  if (value === undefined) return undefined;
  if (countHeader(raw.rawHeaders, HEADER.toLowerCase()) > 1) {
    throw invalidField(HEADER, 'must be sent once');
  }
  const text = String(value);
  const key = text.startsWith('"') ? unquote(text) : text;
  if (key === undefined || !KEY.test(key)) {
    throw invalidField(HEADER, `must be 1 to ${IDEMPOTENCY_KEY_MAX} visible ASCII characters`);
  }
  return key;
}

const KEY = new RegExp(`^[\\x21-\\x7e]{1,${IDEMPOTENCY_KEY_MAX}}$`);

/** Source: RFC 9651, 4.2.5: only quotes and backslashes are escaped. */
function unquote(text: string): string | undefined {
  const content = /^"((?:[^"\\]|\\["\\])*)"$/.exec(text)?.[1];
  return content?.replace(/\\(.)/g, '$1');
}
