/** `/v1/participants/erase` and `/v1/erasures/{id}`. Additions to the specification. */

import { type Static, Type } from '../../base/lib/schema.ts';
import { ERASURE_STATES, type Erasure } from '../../control/people/erasure.ts';
import { getErasure } from '../../control/people/get-erasure.ts';
import { requestErasure } from '../../control/people/request-erasure.ts';
import { RECORD_TEXT_MAX } from '../../money/usage/usage-record.ts';
import type { Deps } from '../deps.ts';
import { answers } from '../http/answers.ts';
import type { Http } from '../http/http.ts';
import { callerOf, refuseStatus, requireKey } from './auth.ts';
import { IdempotencySchema, write } from './idempotency.ts';
import { body, time, words } from './schemas.ts';

const security = [{ backend_key: [] }];
const tags = ['Participants'];

const ErasureSchema = Type.Object(
  {
    id: Type.String({ description: 'The id of the erasure' }),
    state: words(ERASURE_STATES, { description: '`done`: nothing that is stored shows the name any more' }),
    records: Type.Integer({ description: 'Usage records that have lost the name so far' }),
    created_at: time('When it was asked for'),
    finished_at: Type.Optional(time('When it was done. Absent: it is pending')),
  },
  { description: 'The erasure of a person' },
);

export function participantRoutes(app: Http, deps: Deps): void {
  erase(app, deps);
  show(app, deps);
}

function erase(app: Http, deps: Deps): void {
  app.post(
    '/v1/participants/erase',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags,
        operationId: 'eraseParticipant',
        summary: 'Erase the name of a person from everything that is stored',
        description:
          'Amounts, sums and numbers stay; `(erased)` stands for the name. It cannot be undone. The work goes on in ' +
          'the background: ask for the erasure until it is `done`. Asking again meanwhile returns the same erasure. ' +
          'A person who is in a room, or was expelled a moment ago, is refused with 409.',
        security,
        headers: IdempotencySchema,
        body: body({
          participant: Type.String({
            minLength: 1,
            maxLength: RECORD_TEXT_MAX,
            description: 'The name, as usage records and tokens have it',
          }),
        }),
        response: answers(
          { 202: Type.Object({ erasure: ErasureSchema }, { description: 'Accepted' }) },
          401,
          403,
          408,
          409,
          422,
        ),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      refuseStatus(caller, 'deleted');
      await write(deps, request, reply.code(202), async (tx) => ({
        erasure: renderErasure(
          await requestErasure(tx, caller.actor, caller.tenant, request.body.participant),
        ),
      }));
      return reply;
    },
  );
}

function show(app: Http, deps: Deps): void {
  app.get(
    '/v1/erasures/:id',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags,
        operationId: 'getErasure',
        summary: 'Look how far an erasure is',
        description: 'It stays after it is done, and never shows the name.',
        security,
        params: Type.Object({ id: Type.String({ description: 'The id of the erasure' }) }),
        response: answers(
          { 200: Type.Object({ erasure: ErasureSchema }, { description: 'The erasure' }) },
          401,
          403,
          404,
        ),
      },
    },
    async (request) => {
      const caller = callerOf(request);
      refuseStatus(caller, 'deleted');
      return { erasure: renderErasure(await getErasure(deps.db, caller.tenant, request.params.id)) };
    },
  );
}

function renderErasure({ id, state, records, createdAt, finishedAt }: Erasure): Static<typeof ErasureSchema> {
  return {
    id,
    state,
    records: Number(records),
    created_at: createdAt.toISOString(),
    ...(finishedAt && { finished_at: finishedAt.toISOString() }),
  };
}
