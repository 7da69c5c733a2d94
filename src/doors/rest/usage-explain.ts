/** `GET /v1/usage/{id}/explain`: how the charge of one record came about. */

import { Failure } from '../../base/failure.ts';
import { described, type Static, Type, time, words } from '../../base/lib/schema.ts';
import { renderAmount } from '../../money/amount.ts';
import { AmountSchema } from '../../money/amount-schema.ts';
import type { ExactMicros } from '../../money/pricing/exact-micros.ts';
import type { Explanation } from '../../money/pricing/explain-price.ts';
import { type ExplainedCharge, explainCharge } from '../../money/usage/explain-charge.ts';
import { plain } from './route.ts';
import { ChargedRecordSchema, renderRecord } from './usage-records.ts';

const exact = (description: string) =>
  Type.String({ pattern: '^[0-9]+\\.[0-9]{6,13}$', description: `${description}, in micros` });

const ExplanationSchema = Type.Object(
  {
    egress_gib: Type.String({ description: '`egress_bytes` in GiB, rounded to 12 decimals' }),
    platform_fee_per_gib: described(AmountSchema, 'Of the rate card'),
    fee: exact('`egress_gib` times the platform fee'),
    minutes: Type.String({ description: '`seconds` in minutes, rounded to 12 decimals' }),
    ceiling_per_1000_minutes: described(AmountSchema, 'Of the rate card, for the role and the tier'),
    ceiling: exact('A thousandth of it for every minute'),
    limited_by: words(['fee', 'ceiling'], { description: 'The smaller of the two, which is the price' }),
    price: exact('The price'),
    carry_before: exact('The fraction that earlier charges left over'),
    carry_after: exact('The fraction that is left for the next charge'),
    rounding: words(['carry', 'per_record'], {
      description:
        '`carry`: price and carry before are cut to whole micros; `per_record`: the price is rounded half-up',
    }),
    rate_card: Type.Integer({ description: 'Version of the rate card' }),
    rule: Type.Integer({ description: 'Version of the pricing rule' }),
  },
  { description: 'The calculation, step by step' },
);

export const usageExplainRoute = plain(
  {
    path: 'GET /v1/usage/:id/explain',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'calls',
    tag: 'Usage',
    operation: 'explainUsage',
    summary: 'How the charge of a record came about',
    description: 'Calculated again, by the rate card and the rule that charged it.',
    params: Type.Object({ id: Type.String({ description: 'The id of the record, percent-encoded' }) }),
    answer: {
      200: Type.Object(
        {
          record: ChargedRecordSchema,
          explanation: ExplanationSchema,
          posting: Type.Object(
            {
              seq: Type.Unsafe<bigint>({
                type: 'integer',
                format: 'int64',
                description: 'Its number in the ledger',
              }),
              records: Type.Integer({ description: 'How many records were charged together' }),
              amount: described(AmountSchema, 'By how much they changed the balance'),
              at: time('When'),
            },
            { description: 'The change of the balance that this record is part of' },
          ),
        },
        { description: 'The explanation' },
      ),
    },
    errors: [404],
  },
  async ({ deps, caller, params }) => {
    const { id } = params;
    const explained = id.includes('\0') ? undefined : await explainCharge(deps, caller.tenant, id);
    if (!explained) throw new Failure('not_found');
    return renderExplained(explained);
  },
);

function renderExplained({ record, explanation, posting }: ExplainedCharge) {
  return {
    record: renderRecord(record),
    explanation: renderExplanation(explanation),
    posting: {
      seq: posting.seq,
      records: posting.records!,
      amount: renderAmount(posting.amount),
      at: posting.at.toISOString(),
    },
  };
}

function renderExplanation(explanation: Explanation): Static<typeof ExplanationSchema> {
  const decimal = (amount: ExactMicros) => amount.decimal;
  return {
    egress_gib: explanation.egressGib,
    platform_fee_per_gib: renderAmount(explanation.platformFeePerGib),
    fee: decimal(explanation.fee),
    minutes: explanation.minutes,
    ceiling_per_1000_minutes: renderAmount(explanation.ceilingPer1000Minutes),
    ceiling: decimal(explanation.ceiling),
    limited_by: explanation.capped ? 'ceiling' : 'fee',
    price: decimal(explanation.price),
    carry_before: decimal(explanation.carryBefore),
    carry_after: decimal(explanation.carryAfter),
    rounding: explanation.rounding,
    rate_card: explanation.rateVersion,
    rule: explanation.ruleVersion,
  };
}
