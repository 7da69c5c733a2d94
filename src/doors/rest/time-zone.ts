/** `/v1/billing/time-zone`: where the days and months of the tenant begin. */
import { type Static, Type, time } from '../../base/lib/schema.ts';
import { type CurrentZone, getTimeZone } from '../../money/calendar/get-time-zone.ts';
import { setTimeZone } from '../../money/calendar/set-time-zone.ts';
import { TIME_ZONE_LENGTH_MAX } from '../../money/calendar/time-zone.ts';
import { change, plain } from './route.ts';
import { strictObject } from './schemas.ts';

const name = (description: string) =>
  Type.String({ minLength: 1, maxLength: TIME_ZONE_LENGTH_MAX, description, examples: ['Europe/Berlin'] });

const TimeZoneSchema = Type.Object(
  {
    time_zone: name('That of this month, by its IANA name'),
    next_time_zone: Type.Optional(name('What was set since. Absent: nothing else')),
    next_from: Type.Optional(time('When the next one begins, with a month')),
  },
  { description: 'The time zone of the tenant' },
);

function renderZone({ zone, next }: CurrentZone): Static<typeof TimeZoneSchema> {
  return {
    time_zone: zone,
    ...(next && { next_time_zone: next.zone, next_from: next.from.toISOString() }),
  };
}

const showTimeZone = plain(
  {
    path: 'GET /v1/billing/time-zone',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'calls',
    tag: 'Billing',
    operation: 'getTimeZone',
    summary: 'Where days and months begin',
    description: 'Days of sums, and months of statements. UTC, unless it was set.',
    answer: { 200: TimeZoneSchema },
  },
  async ({ deps, caller }) => renderZone(await getTimeZone(deps.db, caller.tenant)),
);

const changeTimeZone = change(
  {
    path: 'PUT /v1/billing/time-zone',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'calls',
    tag: 'Billing',
    operation: 'setTimeZone',
    summary: 'Set where days and months begin',
    description:
      'From the next month on: this month ends in the zone that it has, and the next one in the new zone. Before the first ' +
      'usage of the tenant, from this month on. Statements of months that are over never change.',
    body: strictObject({ time_zone: name('The IANA name') }),
    answer: { 200: TimeZoneSchema },
    audit: ['time_zone_changed'],
  },
  async (tx, { caller, body }) =>
    renderZone(await setTimeZone(tx, caller.actor, caller.tenant, body.time_zone)),
);

export const timeZoneRoutes = [showTimeZone, changeTimeZone];
