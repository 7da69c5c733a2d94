/** Schemas of what is told of credit, payments and usage. */
import { described, Type, time, words } from '../../../base/lib/schema.ts';
import { AmountSchema } from '../../../money/amount-schema.ts';
import { DISPUTE_OUTCOMES } from '../../../money/reversals/reversal.ts';
import { CONFLICT_IDS_MAX } from '../../../money/usage/conflict-events.ts';

const balance = described(AmountSchema, 'The balance after the change');
const paymentId = Type.String({ description: "The provider's id of the payment" });

export const admitted = Type.Boolean({
  description: 'Whether new sessions and tokens are admitted from now on',
});

export const CreditSchema = Type.Object({ balance, admitted }, { description: 'The balance, at zero' });

export const BalanceAlertSchema = Type.Object(
  { balance, below: described(AmountSchema, 'The threshold') },
  { description: 'The balance, and the threshold that it crossed' },
);

export const RunwayAlertSchema = Type.Object(
  {
    balance: described(AmountSchema, 'The balance'),
    below_hours: Type.Integer({ description: 'The threshold, in hours' }),
    burn_per_hour: described(AmountSchema, 'What usage takes in an hour'),
    runway_hours: Type.Optional(
      Type.Number({ description: 'How long the balance lasts. 0: nothing is left. Absent: nothing is used' }),
    ),
    empty_at: Type.Optional(
      time(
        'When the balance is spent. Absent: nothing is left, nothing is used, or it lasts beyond the year 9999',
      ),
    ),
  },
  { description: 'How long the balance lasts, and the threshold that this crossed' },
);

export const BudgetAlertSchema = Type.Object(
  {
    budget: Type.String({ description: 'The id of the budget' }),
    percent: Type.Integer({ description: 'The share that is spent' }),
    spent: described(AmountSchema, 'What was charged in this period'),
    limit: described(AmountSchema, 'What may be spent in a period'),
    period_started_at: time('When the period began'),
  },
  { description: 'A budget, and what of it is spent' },
);

export const TopUpSchema = Type.Object(
  {
    automatic: Type.Boolean({ description: '`true`: the saved card was charged; `false`: a checkout' }),
    amount: described(AmountSchema, 'The credit that was to be paid for, without tax'),
    payment_id: Type.Optional(
      described(paymentId, "The provider's id of the payment. Absent: there was none"),
    ),
    error: Type.Optional(
      Type.String({ description: 'Why it failed, as in `last_top_up_error`. Absent: it succeeded' }),
    ),
  },
  { description: 'A payment for credit, or an attempt at one' },
);

export const PaymentReversalSchema = Type.Object(
  {
    payment_id: paymentId,
    kind: words(['refund', 'dispute'] as const, { description: 'What moved the credit' }),
    reference: Type.String({ description: "The provider's id of the refund or dispute" }),
    amount: described(AmountSchema, 'Negative if credit was taken back, positive if it was given back'),
  },
  { description: 'Credit that a refund or a dispute moved' },
);

export const PaymentDisputeSchema = Type.Object(
  {
    payment_id: paymentId,
    kind: words(['dispute', 'inquiry', 'fraud_warning'] as const, {
      description:
        '`inquiry`: the bank only asks, and takes nothing; `fraud_warning`: of the card network, before any dispute',
    }),
    reference: Type.String({ description: "The provider's id of the dispute or warning" }),
    amount: described(AmountSchema, 'What is disputed, tax included. For a warning, the whole payment'),
    reason: Type.Optional(
      Type.String({ description: "In the provider's words, such as `fraudulent`. Absent: not known" }),
    ),
  },
  { description: 'A dispute of a payment' },
);

export const PaymentDisputeEndSchema = Type.Object(
  {
    payment_id: paymentId,
    reference: Type.String({ description: "The provider's id of the dispute or warning" }),
    outcome: words(DISPUTE_OUTCOMES, {
      description: '`closed`: an inquiry or a warning ended. A lost dispute may be won later, on appeal',
    }),
  },
  { description: 'The end of a dispute' },
);

export const CardExpirySchema = Type.Object(
  {
    brand: Type.String({ description: "In the provider's words, such as `visa`" }),
    last4: Type.String({ description: 'The last four digits of its number' }),
    expires: Type.String({ description: 'The last month in which it pays, such as `2026-12`' }),
  },
  { description: 'The saved card' },
);

export const GrantExpirySchema = Type.Object(
  {
    grant_id: Type.String({ description: 'The id of the grant' }),
    reason: Type.String({ description: 'Why it was granted' }),
    amount: described(AmountSchema, 'What was granted'),
    left: described(AmountSchema, 'What is not spent yet. It leaves the balance at the end'),
    expires_at: time('When it ends'),
  },
  { description: 'Granted credit' },
);

export const ConflictingDuplicatesSchema = Type.Object(
  {
    count: Type.Integer({ description: 'How many reports. An id that came twice counts twice' }),
    ids: Type.Array(Type.String(), {
      description: `The first of their ids, at most ${CONFLICT_IDS_MAX}, each once`,
    }),
    first_at: time('When the first of them came'),
  },
  { description: 'The reports of known ids with other values since the last such event' },
);

export const ReadyStatementSchema = Type.Object(
  {
    month: Type.String({ description: 'Such as `2026-10`' }),
    opening: described(AmountSchema, 'The balance at the start of the month'),
    closing: described(AmountSchema, 'The balance at its end'),
  },
  { description: 'The statement of a month' },
);
