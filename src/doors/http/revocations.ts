/** `GET /v1/revocations/{tenant}`: which of a tenant's tokens relays must refuse, by long polling. Public. */
import Type from 'typebox';
import { Failure, invalidRequest } from '../../base/failure.ts';
import { parseTenantId } from '../../base/tenants/tenant.ts';
import { POLL_SECONDS } from '../../control/revocations/revocation-feed.ts';
import type { Deps } from '../deps.ts';
import type { Http } from './http.ts';

/** For sending the answer, in addition to the wait of a poll. */
const READ_SECONDS = 15;

export function revocationsRoute(app: Http, deps: Deps): void {
  app.get(
    '/v1/revocations/:tenant',
    {
      schema: {
        hide: true,
        params: Type.Object({ tenant: Type.String() }),
        querystring: Type.Object({ after: Type.Optional(Type.Unsafe<string | string[]>({})) }),
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
    throw invalidRequest('after must be the seq of a snapshot');
  }
  return BigInt(text);
}
