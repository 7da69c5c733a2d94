/** The document of a statement, as the reference describes it. `renderStatement()` makes it. */

import { described, Type, time, words } from '../../base/lib/schema.ts';
import { AmountSchema } from '../../money/amount-schema.ts';
import {
  MOVEMENT_KINDS,
  MOVEMENTS_MAX,
  type MovementGroup,
  READY_MINUTES,
  ROOMS_MAX,
} from '../../money/statements/statement.ts';
import { DetailsSchema } from './billing-details.ts';
import { count, measures } from './usage-summary.ts';

export const MonthSchema = Type.String({
  description: `A month in the time zone of the tenant, such as \`2026-10\`, that ended ${READY_MINUTES} minutes ago or earlier`,
});

const month = Type.String({
  pattern: '^[0-9]{4}-[0-9]{2}$',
  description: 'A month in the time zone of the tenant',
});

export const FurtherEntriesSchema = Type.Object(
  { count: count('How many'), sum: described(AmountSchema, 'Of all of them') },
  { description: `Entries after the first ${MOVEMENTS_MAX}, added up` },
);

export const FurtherRoomsSchema = Type.Object(
  { rooms: count('How many rooms'), ...measures },
  { description: `Rooms after the first ${ROOMS_MAX}, added up` },
);

function movements(group: MovementGroup, description: string) {
  return Type.Object(movementMembers(group), { description });
}

function movementMembers(group: MovementGroup) {
  return {
    entries: Type.Array(
      Type.Object(
        {
          at: time('When the balance changed'),
          kind: words(MOVEMENT_KINDS[group], { description: 'What changed the balance' }),
          amount: described(AmountSchema, 'By how much'),
          reference: Type.Optional(
            Type.String({
              description:
                "The provider's id of the payment, refund or dispute; the id of a grant; of an adjustment, its own; of a correction, its period",
            }),
          ),
          detail: Type.Optional(
            Type.String({ description: 'Why an adjustment, a correction or a grant was made' }),
          ),
          payment: Type.Optional(Type.String({ description: 'The payment that was reversed' })),
        },
        { description: 'One entry of the ledger' },
      ),
      { maxItems: MOVEMENTS_MAX, description: 'The first ones, in the order of time' },
    ),
    others: Type.Optional(
      described(FurtherEntriesSchema, 'Those that are not listed. Absent: there are none'),
    ),
    sum: described(AmountSchema, 'Of all of them'),
  };
}

export const GrantedCreditSchema = Type.Object(
  {
    opening: described(AmountSchema, 'What of the opening balance was granted; the rest was paid'),
    ...movementMembers('grants'),
    spent: described(AmountSchema, 'What was spent of granted credit'),
    closing: described(AmountSchema, 'What of the closing balance was granted; the rest was paid'),
  },
  { description: 'What the operator granted, and what left at an end' },
);

export const StatementSchema = Type.Object(
  {
    version: Type.Integer({ description: 'Of this form: always 1' }),
    iss: Type.String({ description: 'The public address of the deployment' }),
    issuer_details: Type.Optional(described(DetailsSchema, 'Those of the operator, as they are now')),
    tenant: Type.Object(
      {
        id: Type.String({ description: 'The id of the tenant' }),
        name: Type.String({ description: 'As given at signup' }),
        details: Type.Optional(
          described(
            DetailsSchema,
            'Those that held at the end of the month, or the first ones that were given later. Absent: there are none',
          ),
        ),
      },
      { description: 'Whose statement it is' },
    ),
    month,
    from: time('Start of the month'),
    to: time('End of the month; what happened at that time is not in it'),
    time_zone: Type.Optional(
      Type.String({ description: 'In which the month ends, by its IANA name. Absent: UTC' }),
    ),
    so_far: Type.Optional(Type.Boolean({ description: 'Always true: the month is not over. Absent: it is' })),
    currency: Type.String({ description: 'Always `usd`' }),
    opening: described(AmountSchema, 'The balance at the start of the month'),
    payments: movements('payments', 'What was paid in'),
    reversals: movements('reversals', 'Refunds and disputes, and what they gave back'),
    adjustments: movements('adjustments', 'What the operator gave or took back'),
    grants: Type.Optional(
      described(GrantedCreditSchema, 'What was granted, and what left at an end. Absent: there was none'),
    ),
    usage: Type.Object(
      {
        rooms: Type.Array(
          Type.Object(
            {
              room: Type.String({ description: 'As reported; empty for records without one' }),
              ...measures,
            },
            { description: 'Usage of one room' },
          ),
          { maxItems: ROOMS_MAX, description: 'The most expensive first' },
        ),
        others: Type.Optional(
          described(FurtherRoomsSchema, 'Those that are not listed. Absent: there are none'),
        ),
        sum: Type.Object(measures, { description: 'Of all rooms' }),
      },
      { description: 'What usage cost. Unbilled usage moved no balance' },
    ),
    closing: described(
      AmountSchema,
      'The balance at the end: opening, payments, reversals, adjustments and grants, less usage',
    ),
  },
  { description: 'The statement' },
);

export const ListedStatementSchema = Type.Object(
  {
    month,
    opening: described(AmountSchema, 'The balance at the start of the month'),
    closing: described(AmountSchema, 'The balance at its end'),
  },
  { description: 'A month whose statement is there' },
);
