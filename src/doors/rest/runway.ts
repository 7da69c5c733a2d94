/** `GET /v1/billing/runway`: how long the credit lasts. */

import { described, type Static, Type, time, words } from '../../base/lib/schema.ts';
import { renderAmount } from '../../money/amount.ts';
import { AmountSchema } from '../../money/amount-schema.ts';
import { getRunway } from '../../money/runway/get-runway.ts';
import { type Burn, ROOMS_SHOWN, type RoomShare, WINDOW_NAMES } from '../../money/runway/runway.ts';
import { plain } from './route.ts';

const WINDOW_USUAL = '24h';

/** A number, or `null`. */
const decimal = (description: string) =>
  Type.Unsafe<number | null>({ type: ['number', 'null'], description });

const BurnSchema = Type.Object(
  {
    window: words(WINDOW_NAMES, { description: 'The hours or days up to now' }),
    spent: described(AmountSchema, 'What usage took in them'),
    per_hour: described(AmountSchema, 'The same for an hour, rounded up'),
    runway_hours: decimal(
      'How long the balance lasts at this rate, without grants that end before; 0: it is spent; null: nothing is used',
    ),
    empty_at: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When it is spent. Null: it is spent already, or never, or after the year 9999',
    }),
  },
  { description: 'What usage takes, and how long the balance lasts if it goes on like this' },
);

const RoomSchema = Type.Object(
  {
    room: Type.String({ description: 'As reported; empty for records without one' }),
    amount: described(AmountSchema, 'What its usage took'),
    share: Type.Unsafe<number>({ type: 'number', description: 'Of what all rooms took: 0 to 1' }),
  },
  { description: 'A room' },
);

export const runwayRoute = plain(
  {
    path: 'GET /v1/billing/runway',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'calls',
    tag: 'Billing',
    operation: 'getRunway',
    summary: 'How long the credit lasts, and which rooms use most of it',
    description:
      'From every charge up to now. Grants pay first, and what ends before it could be spent does not count. Payments and adjustments are no usage.',
    query: Type.Object({
      window: Type.Optional(
        words(WINDOW_NAMES, { description: `Of the rooms; \`${WINDOW_USUAL}\` if it is left out` }),
      ),
    }),
    answer: {
      200: Type.Object(
        {
          at: time('The instant that the answer is about'),
          balance: described(AmountSchema, 'Prepaid credit that is left; may be negative'),
          empty: Type.Boolean({ description: 'Nothing is left: the balance is 0 or less' }),
          burn: Type.Array(BurnSchema, { description: 'For each of the windows' }),
          rooms: Type.Object(
            {
              window: words(WINDOW_NAMES, { description: 'As asked for' }),
              from: time('The start of the hour in which the window begins: rooms are added up by hours'),
              spent: described(AmountSchema, 'What all rooms took since then'),
              top: Type.Array(RoomSchema, {
                maxItems: ROOMS_SHOWN,
                description: 'Those that took most, the most expensive first',
              }),
            },
            { description: 'The rooms that cost most' },
          ),
        },
        { description: 'The runway' },
      ),
    },
  },
  async ({ deps, caller, query }) => {
    const { window = WINDOW_USUAL } = query;
    const { now, balance, burns, rooms } = await getRunway(deps.db, caller.tenant, window);
    return {
      at: now.toISOString(),
      balance: renderAmount(balance),
      empty: balance <= 0n,
      burn: burns.map(renderBurn),
      rooms: {
        window: rooms.window,
        from: rooms.from.toISOString(),
        spent: renderAmount(rooms.spent),
        top: rooms.top.map(renderRoom),
      },
    };
  },
);

function renderBurn({ window, spent, perHour, hours, emptyAt }: Burn): Static<typeof BurnSchema> {
  return {
    window,
    spent: renderAmount(spent),
    per_hour: renderAmount(perHour),
    runway_hours: hours,
    empty_at: emptyAt?.toISOString() ?? null,
  };
}

function renderRoom({ room, amount, share }: RoomShare): Static<typeof RoomSchema> {
  return { room, amount: renderAmount(amount), share };
}
