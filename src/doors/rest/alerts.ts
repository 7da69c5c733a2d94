/** `/v1/alerts`: the thresholds below which a tenant is alerted. */
import { type Static, Type } from '../../base/lib/schema.ts';
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
import type { Deps } from '../deps.ts';
import { answers } from '../http/answers.ts';
import type { Http } from '../http/http.ts';
import { callerOf, refuseStatus, requireKey } from './auth.ts';
import { IdempotencySchema, write } from './idempotency.ts';
import { body, words } from './schemas.ts';

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

export function alertRoutes(app: Http, deps: Deps): void {
  showAlerts(app, deps);
  replaceAlerts(app, deps);
}

const security = [{ backend_key: [] }];

function showAlerts(app: Http, deps: Deps): void {
  app.get(
    '/v1/alerts',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags: ['Billing'],
        operationId: 'getAlerts',
        summary: 'The thresholds below which you are alerted',
        description: 'There are none until they are set. An exempt tenant is not alerted.',
        security,
        response: answers({ 200: AlertsSchema }, 401, 403),
      },
    },
    async (request) => {
      const caller = callerOf(request);
      refuseStatus(caller, 'suspended', 'archived', 'deleted');
      return render(await getAlerts(deps.db, caller.tenant));
    },
  );
}

function replaceAlerts(app: Http, deps: Deps): void {
  app.put(
    '/v1/alerts',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags: ['Billing'],
        operationId: 'setAlerts',
        summary: 'Replace all thresholds',
        description:
          'A threshold that was set before stays as it is, raised or not. A new one is raised at once if the balance is ' +
          'below it. One that is left out ends without an event.',
        security,
        headers: IdempotencySchema,
        body: body({
          thresholds: Type.Array(body(fields), {
            maxItems: THRESHOLDS_MAX,
            description: 'All of them, each once; none turns alerts off',
          }),
        }),
        response: answers({ 200: AlertsSchema }, 401, 403, 408, 422),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const wanted = parseThresholds(request.body.thresholds);
      refuseStatus(caller, 'suspended', 'archived', 'deleted');
      await write(deps, request, reply.code(200), async (tx) =>
        render(await setAlerts(tx, caller.actor, caller.tenant, wanted)),
      );
      return reply;
    },
  );
}

function render(thresholds: readonly SetThreshold[]): Static<typeof AlertsSchema> {
  return {
    thresholds: thresholds.map(({ kind, below, raisedAt }) => ({
      kind,
      ...(kind === 'balance' ? { below_micros: Number(below) } : { below_hours: Number(below) }),
      raised_at: raisedAt?.toISOString() ?? null,
    })),
  };
}
