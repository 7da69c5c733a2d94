/** `POST /v1/rates/simulate`. An addition to the specification. */

import { described, type Static, Type, words } from '../../base/lib/schema.ts';
import { renderAmount } from '../../money/amount.ts';
import { AmountSchema } from '../../money/amount-schema.ts';
import { ROUNDINGS } from '../../money/pricing/carry.ts';
import { ROLES, TIERS } from '../../money/pricing/role.ts';
import { SECONDS_MAX } from '../../money/records/usage-record.ts';
import type { LinePrice, SimulatedParticipants } from '../../money/simulation/room-price.ts';
import {
  LINE_PARTICIPANTS_MAX,
  LINES_MAX,
  type SimulatedRoom,
  simulateRoom,
} from '../../money/simulation/simulate-room.ts';
import { plain } from './route.ts';
import { ExactSchema, renderExact, strictObject } from './schemas.ts';

const ParticipantsSchema = strictObject({
  role: words(ROLES, { description: 'What they are in the room: it decides the ceiling' }),
  tier: words(TIERS, {
    description: 'The sum of all video that each receives at once: it decides the ceiling',
  }),
  count: Type.Integer({
    minimum: 1,
    maximum: LINE_PARTICIPANTS_MAX,
    description: 'How many participants are like this',
  }),
  seconds: Type.Integer({
    minimum: 0,
    maximum: SECONDS_MAX,
    description: 'How long each of them is connected',
  }),
  egress_bytes: Type.Integer({ minimum: 0, description: 'Bytes sent to each of them' }),
  interval_seconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: SECONDS_MAX,
      description: 'The interval that the relay reports. Absent: one record for the whole time',
    }),
  ),
});

const LineSchema = Type.Object(
  {
    participants: Type.Integer({ description: 'As given in `count`' }),
    records: Type.Integer({ description: 'Usage records that a relay would report for them' }),
    fee: described(ExactSchema, 'The platform fee on their egress'),
    ceiling: described(ExactSchema, 'The ceiling for their time'),
    capped: Type.Boolean({ description: 'The ceiling is lower than the fee and makes the price' }),
    price: described(ExactSchema, 'The lower of the two'),
    amount: described(AmountSchema, 'The price in whole micros, after the lines before it'),
  },
  { description: 'Participants who are alike' },
);

const SimulationSchema = Type.Object(
  {
    rate_version: Type.Integer({ description: 'The version of the rate card in effect' }),
    rule_version: Type.Integer({ description: 'The version of the pricing rule' }),
    rounding: words(ROUNDINGS, {
      description:
        '`carry`: fractions of a micro go to the next charge; `per_record`: each record is rounded',
    }),
    lines: Type.Array(LineSchema, {
      maxItems: LINES_MAX,
      description: 'One for each of the request, in order',
    }),
    participants: Type.Integer({ description: 'Of all lines' }),
    records: Type.Integer({ description: 'Of all lines' }),
    price: described(ExactSchema, 'The exact price of all lines'),
    total: described(AmountSchema, 'What the room costs: the sum of the amounts of all lines'),
    carry_before: described(ExactSchema, "The fraction that the tenant's charges have left over"),
    carry_after: described(ExactSchema, 'The fraction that this charge would leave over'),
    exempt: Type.Boolean({ description: 'True: usage of this tenant is priced and not charged' }),
    balance: described(AmountSchema, 'Prepaid credit now'),
    balance_after: described(AmountSchema, 'Prepaid credit after this charge, without any top-up'),
    covered: Type.Boolean({ description: 'The credit is enough: `balance_after` is not negative' }),
  },
  { description: 'What the room would cost' },
);

export const simulationRoute = plain(
  {
    path: 'POST /v1/rates/simulate',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'heavy reads',
    tag: 'Rates',
    operation: 'simulateRoom',
    summary: 'What a room would cost',
    description:
      'Prices participants that you make up, as if a relay reported them now. Nothing is charged or stored. ' +
      'A charge of the same records costs the same, if no other charge and no new rate card comes before it.',
    body: strictObject({
      participants: Type.Array(ParticipantsSchema, {
        minItems: 1,
        maxItems: LINES_MAX,
        description: 'Who is in the room. Each line stands for `count` participants who are alike',
      }),
    }),
    answer: { 200: SimulationSchema },
  },
  async ({ deps, caller, body }) => {
    const participants = body.participants.map(parseParticipants);
    return renderSimulation(await simulateRoom(deps, caller.tenant, participants));
  },
);

function parseParticipants(given: Static<typeof ParticipantsSchema>): SimulatedParticipants {
  return {
    role: given.role,
    tier: given.tier,
    count: given.count,
    seconds: given.seconds,
    egressBytes: BigInt(given.egress_bytes),
    intervalSeconds: given.interval_seconds,
  };
}

function renderSimulation(simulated: SimulatedRoom): Static<typeof SimulationSchema> {
  const { room, terms, exempt, balance, balanceAfter } = simulated;
  return {
    rate_version: terms.rates.version,
    rule_version: terms.rule.version,
    rounding: terms.rounding,
    lines: room.lines.map(renderLine),
    participants: room.participants,
    records: Number(room.records),
    price: renderExact(room.price),
    total: renderAmount(room.amount),
    carry_before: renderExact(room.carryBefore),
    carry_after: renderExact(room.carryAfter),
    exempt,
    balance: renderAmount(balance),
    balance_after: renderAmount(balanceAfter),
    covered: exempt || balanceAfter >= 0n,
  };
}

function renderLine(line: LinePrice): Static<typeof LineSchema> {
  return {
    participants: line.participants,
    records: Number(line.records),
    fee: renderExact(line.fee),
    ceiling: renderExact(line.ceiling),
    capped: line.capped,
    price: renderExact(line.price),
    amount: renderAmount(line.amount),
  };
}
