/**
 * `GET /v1/revocations/{tenant}`: which of a tenant's tokens relays must refuse, by long polling or as a stream.
 * Public; with a relay key, the stream also tells whether the tenant is admitted.
 */
import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { authenticate } from '../../access/keys/authenticate.ts';
import { Failure, invalidField } from '../../base/failure.ts';
import { Type } from '../../base/lib/schema.ts';
import { parseTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import type { FeedItem } from '../../control/revocations/feed-stream.ts';
import { POLL_SECONDS, type Relay } from '../../control/revocations/revocation-feed.ts';
import type { Snapshot } from '../../control/revocations/sign-revocations.ts';
import type { Deps } from '../deps.ts';
import { answers } from './answers.ts';
import { EVENT_STREAM_TYPE, typeEventStream, wantsEventStream } from './event-stream.ts';
import { authorizationOf, type Http } from './http.ts';

/** For sending the answer, in addition to the wait of a poll. */
const READ_SECONDS = 15;

const POLL_TYPE = 'application/jwt';

/**
 * Checked by `parseAfter`: the schema accepts what is given twice, so that the refusal can say what is wrong.
 */
const AfterSchema = Type.Unsafe<string | string[]>({
  description: 'The `seq` of the newest snapshot that the relay has. A stream ignores it',
  examples: ['42'],
});

export function revocationsRoute(app: Http, deps: Deps): void {
  app.get(
    '/v1/revocations/:tenant',
    {
      schema: {
        operationId: 'getRevocations',
        tags: ['Relays'],
        summary: "Which of a tenant's tokens relays must refuse",
        description:
          'A signed snapshot. With `after`, the answer comes as soon as there is a newer one, and after 25 seconds ' +
          'at the latest. Users and rooms are hashed, so it needs no key. Who accepts `text/event-stream` gets a ' +
          'stream of server-sent events: `revocations` with the snapshot, now and as soon as there is a newer one; ' +
          'with a relay key in `Authorization`, also `admitted`, now and after each change.',
        security: [{}, { relay_key: [] }],
        params: Type.Object({ tenant: Type.String({ description: 'The id of the tenant' }) }),
        querystring: Type.Object({ after: Type.Optional(AfterSchema) }),
        response: answers(
          {
            200: Type.Unsafe<string | Readable>({
              description: 'The snapshot, or the stream',
              content: {
                [POLL_TYPE]: {
                  schema: Type.String({ description: 'A JWS of the type `revocations+jwt`' }),
                },
                [EVENT_STREAM_TYPE]: {
                  schema: Type.String({
                    description:
                      'Events `revocations`, whose data is such a JWS, and `admitted`, whose data is ' +
                      '`{"admitted":true}` or `{"admitted":false}`, with `reached_budgets` where hard budgets are spent',
                  }),
                },
              },
            }),
          },
          401,
          403,
          404,
          429,
        ),
      },
      config: { answerSeconds: POLL_SECONDS + READ_SECONDS },
    },
    async (request, reply) => {
      const after = parseAfter(request.query.after);
      const tenant = parseTenantId(request.params.tenant);
      if (tenant === undefined) throw new Failure('not_found');

      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      const { ip: address } = request;
      reply.header('vary', 'accept');
      if (!wantsEventStream(request, POLL_TYPE)) {
        const jws = await deps.revocations.poll({ tenant, address, after, signal: gone.signal });
        return reply.type(POLL_TYPE).send(jws);
      }
      const relay = await relayOf(deps, request, tenant);
      const stream = await deps.revocations.follow({ tenant, address, relay, render });
      if (gone.signal.aborted) stream.destroy();
      gone.signal.addEventListener('abort', () => stream.destroy());
      return typeEventStream(reply).send(stream);
    },
  );
}

/**
 * Only a relay key of the tenant opens a stream with `admitted`; `undefined`: there is no key. Fails like
 * `authenticate()`, and with `permission_denied`.
 */
async function relayOf(deps: Deps, request: FastifyRequest, tenant: TenantId): Promise<Relay | undefined> {
  const authorization = authorizationOf(request);
  if (authorization === undefined) return undefined;
  const caller = await authenticate(deps, authorization, 'relay', request.ip);
  request.keyId = caller.keyId;
  deps.keyRate.count(caller);
  if (caller.tenant !== tenant) {
    throw new Failure('permission_denied', { message: 'permission denied: the key is of another tenant' });
  }
  return caller;
}

function render(item: FeedItem): Buffer {
  return item.type === 'revocations'
    ? renderSnapshot(item.snapshot)
    : renderEvent('admitted', JSON.stringify(renderStanding(item)));
}

/** Most tenants have no budget that is spent. */
function renderStanding({ admitted, reached }: Extract<FeedItem, { type: 'admitted' }>): object {
  return { admitted, ...(reached.length > 0 && { reached_budgets: reached }) };
}

/** Streams of a tenant share the bytes of a snapshot. */
const rendered = new WeakMap<Snapshot, Buffer>();

function renderSnapshot(snapshot: Snapshot): Buffer {
  const known = rendered.get(snapshot);
  if (known) return known;
  const bytes = renderEvent('revocations', snapshot.jws);
  rendered.set(snapshot, bytes);
  return bytes;
}

const renderEvent = (name: string, data: string) => Buffer.from(`event: ${name}\ndata: ${data}\n\n`);

function parseAfter(text: string | string[] | undefined): bigint | undefined {
  if (text === undefined) return undefined;
  if (typeof text !== 'string' || !/^(0|[1-9]\d{0,15})$/.test(text)) {
    throw invalidField('after', 'must be the seq of a snapshot');
  }
  return BigInt(text);
}
