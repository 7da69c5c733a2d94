/** `/v1/grants`: credit that the operator granted. No route makes one. */

import { described, type Static, Type, time, words } from '../../base/lib/schema.ts';
import { renderAmount } from '../../money/amount.ts';
import { AmountSchema } from '../../money/amount-schema.ts';
import { GRANT_STATES, type GrantNow, isGrantId, spentOf } from '../../money/grants/grant.ts';
import { GRANTS_PAGE_SIZE, listGrants } from '../../money/grants/list-grants.ts';
import { CursorSchema, nextCursor, noSuchPage, parseCursor, renderCursor } from './paging.ts';
import { plain } from './route.ts';

const GrantSchema = Type.Object(
  {
    id: Type.String({ description: 'The id, which the ledger entries of the grant name' }),
    state: words(GRANT_STATES, {
      description:
        '`active`: usage spends it; `spent`: nothing is left; `expired` and `voided`: what was left left the balance',
    }),
    reason: Type.String({ description: 'Why it was granted' }),
    amount: described(AmountSchema, 'What was granted: the sum of `left`, `spent` and `forfeited`'),
    left: described(AmountSchema, 'What usage may still spend'),
    spent: described(AmountSchema, 'What usage spent, or what the tenant owed before'),
    forfeited: described(AmountSchema, 'What was left when it expired or was voided'),
    granted_at: time('When it was granted'),
    expires_at: Type.Optional(time('When what is left leaves the balance. Absent: never')),
  },
  { description: 'Credit that the operator granted' },
);

export const grantsRoute = plain(
  {
    path: 'GET /v1/grants',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'calls',
    tag: 'Billing',
    operation: 'listGrants',
    summary: 'Granted credit, and what is left of it',
    description:
      `Newest first, ${GRANTS_PAGE_SIZE} at once. Usage spends granted credit before paid credit, the grant with the ` +
      'earliest end first.',
    query: CursorSchema,
    answer: {
      200: Type.Object(
        { grants: Type.Array(GrantSchema, { description: 'The grants' }), ...nextCursor },
        { description: 'A page of them' },
      ),
    },
    parse: ({ query }) => parseCursor(query.cursor, isGrantId),
  },
  async ({ deps, caller, input }) => {
    const page = await listGrants(deps.db, caller.tenant, input);
    if (!page) throw noSuchPage();
    return { grants: page.items.map(renderGrant), ...renderCursor(page.end?.id) };
  },
);

function renderGrant(grant: GrantNow): Static<typeof GrantSchema> {
  const { id, state, reason, amount, left, forfeited, grantedAt, expiresAt } = grant;
  return {
    id,
    state,
    reason,
    amount: renderAmount(amount),
    left: renderAmount(left),
    spent: renderAmount(spentOf(grant)),
    forfeited: renderAmount(forfeited),
    granted_at: grantedAt.toISOString(),
    ...(expiresAt && { expires_at: expiresAt.toISOString() }),
  };
}
