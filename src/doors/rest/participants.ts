/** `/v1/participants/erase` and `/v1/erasures/{id}`. Additions to the specification. */

import { type Static, Type, time, words } from '../../base/lib/schema.ts';
import { ERASURE_STATES, type Erasure } from '../../control/people/erasure.ts';
import { getErasure } from '../../control/people/get-erasure.ts';
import { requestErasure } from '../../control/people/request-erasure.ts';
import { RECORD_TEXT_MAX } from '../../money/ledger/posting.ts';
import { change, plain } from './route.ts';
import { strictObject } from './schemas.ts';

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

const erase = change(
  {
    path: 'POST /v1/participants/erase',
    key: 'backend',
    closedTo: 'deleted',
    queue: 'calls',
    tag: 'Participants',
    operation: 'eraseParticipant',
    summary: 'Erase the name of a person from everything that is stored',
    description:
      'Amounts, sums and numbers stay; `(erased)` stands for the name. It cannot be undone. The work goes on in ' +
      'the background: ask for the erasure until it is `done`. Asking again meanwhile returns the same erasure. ' +
      'A person who is in a room, or was expelled a moment ago, is refused with 409.',
    body: strictObject({
      participant: Type.String({
        minLength: 1,
        maxLength: RECORD_TEXT_MAX,
        description: 'The name, as usage records and tokens have it',
      }),
    }),
    answer: { 202: Type.Object({ erasure: ErasureSchema }, { description: 'Accepted' }) },
    errors: [409],
    audit: ['erasure_requested'],
  },
  async (tx, { caller, body }) => {
    return {
      erasure: renderErasure(await requestErasure(tx, caller.actor, caller.tenant, body.participant)),
    };
  },
);

const show = plain(
  {
    path: 'GET /v1/erasures/:id',
    key: 'backend',
    closedTo: 'deleted',
    queue: 'calls',
    tag: 'Participants',
    operation: 'getErasure',
    summary: 'Look how far an erasure is',
    description: 'It stays after it is done, and never shows the name.',
    params: Type.Object({ id: Type.String({ description: 'The id of the erasure' }) }),
    answer: { 200: Type.Object({ erasure: ErasureSchema }, { description: 'The erasure' }) },
    errors: [404],
  },
  async ({ deps, caller, params }) => {
    return { erasure: renderErasure(await getErasure(deps.db, caller.tenant, params.id)) };
  },
);

function renderErasure({ id, state, records, createdAt, finishedAt }: Erasure): Static<typeof ErasureSchema> {
  return {
    id,
    state,
    records: Number(records),
    created_at: createdAt.toISOString(),
    ...(finishedAt && { finished_at: finishedAt.toISOString() }),
  };
}

export const participantRoutes = [erase, show];
