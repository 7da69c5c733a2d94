/** `GET /v1/revocations/{tenant}`: which of a tenant's tokens relays must refuse, by long polling. Public. */

import { Failure, invalidField } from '../../base/failure.ts';
import { Type } from '../../base/lib/schema.ts';
import { parseTenantId } from '../../base/tenants/tenant.ts';
import { POLL_SECONDS } from '../../control/revocations/revocation-feed.ts';
import type { Deps } from '../deps.ts';
import { answers } from './answers.ts';
import type { Http } from './http.ts';

/** For sending the answer, in addition to the wait of a poll. */
const READ_SECONDS = 15;

/**
 * Checked by `parseAfter`: the schema accepts what is given twice, so that the refusal can say what is wrong.
 */
const AfterSchema = Type.Unsafe<string | string[]>({
  description: 'The `seq` of the newest snapshot that the relay has',
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
          'at the latest. Users and rooms are hashed, so it needs no key.',
        security: [],
        params: Type.Object({ tenant: Type.String({ description: 'The id of the tenant' }) }),
        querystring: Type.Object({ after: Type.Optional(AfterSchema) }),
        response: answers(
          {
            200: Type.Unsafe<string>({
              description: 'The snapshot',
              content: {
                'application/jwt': {
                  schema: Type.String({ description: 'A JWS of the type `revocations+jwt`' }),
                },
              },
            }),
          },
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
      const jws = await deps.revocations.poll({ tenant, after, address: request.ip, signal: gone.signal });
      return reply.type('application/jwt').send(jws);
    },
  );
}

function parseAfter(text: string | string[] | undefined): bigint | undefined {
  if (text === undefined) return undefined;
  if (typeof text !== 'string' || !/^(0|[1-9]\d{0,15})$/.test(text)) {
    throw invalidField('after', 'must be the seq of a snapshot');
  }
  return BigInt(text);
}
