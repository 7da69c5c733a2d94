/** `/v1/billing/details`: name, address and tax id of the tenant on its statements. */
import { Type } from '../../base/lib/schema.ts';
import {
  ADDRESS_LINE_LENGTH_MAX,
  ADDRESS_LINES_MAX,
  LEGAL_NAME_LENGTH_MAX,
  parseDetails,
  renderDetails,
  TAX_ID_LENGTH_MAX,
} from '../../money/statements/billing-details.ts';
import { getBillingDetails } from '../../money/statements/get-billing-details.ts';
import { setBillingDetails } from '../../money/statements/set-billing-details.ts';
import { change, plain } from './route.ts';
import { strictObject } from './schemas.ts';

const line = (lengthMax: number, description: string) =>
  Type.String({ minLength: 1, maxLength: lengthMax, description });

const MEMBERS = {
  name: Type.Optional(line(LEGAL_NAME_LENGTH_MAX, 'The legal name')),
  address: Type.Optional(
    Type.Array(line(ADDRESS_LINE_LENGTH_MAX, 'A line'), {
      maxItems: ADDRESS_LINES_MAX,
      description: 'The lines of the postal address; none is as if it were absent',
      examples: [['1 Example Street', '12345 Exampletown', 'Germany']],
    }),
  ),
  tax_id: Type.Optional(line(TAX_ID_LENGTH_MAX, 'The tax id, as it is written')),
};

export const DetailsSchema = Type.Object(MEMBERS, {
  description: 'Name, address and tax id. What is absent is not known',
});

const showDetails = plain(
  {
    path: 'GET /v1/billing/details',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'calls',
    tag: 'Billing',
    operation: 'getBillingDetails',
    summary: 'Name, address and tax id on statements',
    description: 'As they are now.',
    answer: { 200: DetailsSchema },
  },
  async ({ deps, caller }) => renderDetails(await getBillingDetails(deps.db, caller.tenant)) ?? {},
);

const changeDetails = change(
  {
    path: 'PUT /v1/billing/details',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'calls',
    tag: 'Billing',
    operation: 'setBillingDetails',
    summary: 'Set name, address and tax id on statements',
    description:
      'Replaces all of them: what is absent is removed. A statement shows those that held at the end of its month; if none ' +
      'were given by then, the first ones that were given later.',
    body: strictObject(MEMBERS),
    answer: { 200: DetailsSchema },
    parse: ({ body }) => parseDetails(body),
    audit: ['billing_details_changed'],
  },
  async (tx, { caller, input }) => {
    await setBillingDetails(tx, caller.actor, caller.tenant, input);
    return renderDetails(input) ?? {};
  },
);

export const billingDetailsRoutes = [showDetails, changeDetails];
