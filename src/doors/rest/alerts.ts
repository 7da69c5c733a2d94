/** `/v1/alerts`: the thresholds below which a tenant is alerted. */
import { type Static, Type, words } from '../../base/lib/schema.ts';
import {
  BELOW_HOURS_MAX,
  BELOW_MICROS_MAX,
  parseThresholds,
  type SetThreshold,
  THRESHOLD_KINDS,
  THRESHOLDS_MAX,
} from '../../money/alerts/alert-threshold.ts';
import { getAlerts } from '../../money/alerts/get-alerts.ts';
import { setAlerts } from '../../money/alerts/set-alerts.ts';
import { change, plain } from './route.ts';
import { strictObject } from './schemas.ts';

const fields = {
  kind: words(THRESHOLD_KINDS, {
    description: '`balance`: an amount of credit; `runway`: hours that the credit lasts',
  }),
  below_micros: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: BELOW_MICROS_MAX,
      format: 'int64',
      description: 'For `balance`: millionths of a US dollar',
      examples: [5_000_000],
    }),
  ),
  below_hours: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: BELOW_HOURS_MAX,
      description: 'For `runway`: hours',
      examples: [24],
    }),
  ),
};

const AlertsSchema = Type.Object(
  {
    thresholds: Type.Array(
      Type.Object(
        {
          ...fields,
          raised_at: Type.Unsafe<string | null>({
            type: ['string', 'null'],
            format: 'date-time',
            description: 'Since when the balance is below it. Null: it is not',
          }),
        },
        { description: 'A threshold' },
      ),
      { maxItems: THRESHOLDS_MAX, description: 'Those of `balance` first, then the largest first' },
    ),
  },
  { description: 'The thresholds' },
);

const showAlerts = plain(
  {
    path: 'GET /v1/alerts',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'calls',
    tag: 'Billing',
    operation: 'getAlerts',
    summary: 'The thresholds below which you are alerted',
    description: 'There are none until they are set. An exempt tenant is not alerted.',
    answer: { 200: AlertsSchema },
  },
  async ({ deps, caller }) => {
    return render(await getAlerts(deps.db, caller.tenant));
  },
);

const replaceAlerts = change(
  {
    path: 'PUT /v1/alerts',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'calls',
    tag: 'Billing',
    operation: 'setAlerts',
    summary: 'Replace all thresholds',
    description:
      'A threshold that was set before stays as it is, raised or not. A new one is raised at once if the balance is ' +
      'below it. One that is left out ends without an event.',
    body: strictObject({
      thresholds: Type.Array(strictObject(fields), {
        maxItems: THRESHOLDS_MAX,
        description: 'All of them, each once; none turns alerts off',
      }),
    }),
    answer: { 200: AlertsSchema },
    parse: ({ body }) => parseThresholds(body.thresholds),
    audit: ['alerts_changed'],
  },
  async (tx, { caller, input }) => {
    return render(await setAlerts(tx, caller.actor, caller.tenant, input));
  },
);

function render(thresholds: readonly SetThreshold[]): Static<typeof AlertsSchema> {
  return {
    thresholds: thresholds.map(({ kind, below, raisedAt }) => ({
      kind,
      ...(kind === 'balance' ? { below_micros: Number(below) } : { below_hours: Number(below) }),
      raised_at: raisedAt?.toISOString() ?? null,
    })),
  };
}

export const alertRoutes = [showAlerts, replaceAlerts];
