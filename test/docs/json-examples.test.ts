/**
 * Every JSON example of the documents is what the service sends or takes.
 *
 * A comment above each block says what it is: `<!-- json: GET /v1/billing 200 -->`, `request` instead of a status for what is
 * sent, `event` for an event as receivers get it, `rate card`, or `other: ` and why no schema describes it. A text that is cut
 * ends in `...`, and need not have its form.
 */
import type { ErrorObject } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { keyRetiring } from '../../src/access/keys/key-events.ts';
import { newTenantId } from '../../src/base/tenants/tenant.ts';
import type { NewEvent } from '../../src/events/event.ts';
import { thresholdCrossed } from '../../src/money/alerts/alert-events.ts';
import { cardExpiring } from '../../src/money/cards/card-events.ts';
import { grantExpiring } from '../../src/money/grants/grant-events.ts';
import { parseRateCard } from '../../src/money/pricing/rate-card.ts';
import { paymentDisputeClosed, paymentDisputed } from '../../src/money/reversals/reversal-events.ts';
import { topUpFailed } from '../../src/money/top-ups/top-up-events.ts';
import { conflictingDuplicates } from '../../src/money/usage/conflict-events.ts';
import { renderPublicEvent } from '../../src/outward/events/public-event.ts';
import { closed, openApiValidator } from '../support/openapi.ts';
import { faultsOfEvent } from '../support/real-events.ts';
import { useService } from '../support/service.ts';
import { type Block, blocksOf, readPage } from './blocks.ts';

/** The block at a place of a page, and what its note says. */
type Example = Pick<Block, 'where' | 'text'> & { readonly what: string | undefined };

const examples = blocksOf('json').map(
  ({ where, text, notes }): Example => ({ where, text, what: notes.json }),
);

const app = useService();
const ajv = openApiValidator();
let paths: Record<string, Record<string, Operation>>;

interface Operation {
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
}

interface Body {
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}

beforeAll(async () => {
  paths = (await app.request('GET', '/openapi.json')).json.paths;
});

/** The schema of `POST /v1/keys 201` or `POST /v1/keys request`. */
function schemaOf(what: string): object {
  const [, method = '', path = '', part = ''] = /^([A-Z]+) (\S+) (\d{3}|request)$/.exec(what) ?? [];
  const template = Object.keys(paths).find((each) =>
    new RegExp(`^${each.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
  const operation = paths[template ?? '']?.[method.toLowerCase()];
  const body = part === 'request' ? operation?.requestBody : operation?.responses[part];
  const schema = body?.content?.['application/json']?.schema;
  expect(schema, `no schema of ${what}`).toBeDefined();
  return closed(schema) as object;
}

function valueAt(value: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce((at, name) => (at as Record<string, unknown>)[name], value);
}

function faultsOf(schema: object, value: unknown): string[] {
  const isCut = ({ keyword, instancePath }: ErrorObject) =>
    ['pattern', 'format', 'minLength'].includes(keyword) &&
    String(valueAt(value, instancePath)).endsWith('...');
  const validate = ajv.compile(schema);
  validate(value);
  return (validate.errors ?? [])
    .filter((error) => !isCut(error))
    .map(({ instancePath, message, params }) =>
      `${instancePath} ${message} ${params.additionalProperty ?? ''}`.trim(),
    );
}

const now = new Date('2026-11-22T18:00:00.000Z');
const threshold = { burn: 251_457n, raisedAt: null, changedAt: now };
/** Events whose `data` the documents describe, as operations append them. */
const APPENDED: readonly NewEvent[] = [
  thresholdCrossed({ ...threshold, kind: 'balance', below: 5n } as never, { balance: 4n, now }),
  thresholdCrossed({ ...threshold, kind: 'runway', below: 70n } as never, { balance: 9_748_543n, now }),
  topUpFailed({ automatic: true, amount: 1n, paymentId: 'pi_1', error: 'declined' }),
  paymentDisputed({
    paymentId: 'pi_1',
    kind: 'dispute',
    reference: 'du_1',
    amount: 1n,
    reason: 'fraudulent',
  }),
  paymentDisputeClosed({ paymentId: 'pi_1', reference: 'du_1', outcome: 'won' }),
  cardExpiring({ brand: 'visa', last4: '4242', expires: '2026-12' }),
  grantExpiring({ grantId: 'gr_1', reason: 'a gift', amount: 9n, left: 4n, expiresAt: now }),
  conflictingDuplicates({ count: 2, ids: ['a'], firstAt: now }),
  keyRetiring({ keyId: '0f7e440556fe905a', name: 'a', kind: 'backend', retiresAt: now }),
];
const DATA: Readonly<Record<string, Readonly<Record<string, unknown>>>> = Object.fromEntries(
  APPENDED.map(({ type, subject }) => {
    // As the log keeps it.
    const logged = { seq: 1n, at: now, type, roomUid: null, subject: JSON.parse(JSON.stringify(subject)) };
    return [type, JSON.parse(renderPublicEvent(newTenantId(), logged as never)).data];
  }),
);

function checkExample({ what = '', text }: Omit<Example, 'where'>): void {
  const value = JSON.parse(text);
  if (what.startsWith('other: ')) return;
  if (what === 'rate card') {
    expect(() => parseRateCard(value)).not.toThrow();
  } else if (what === 'event') {
    expect(faultsOfEvent(value)).toEqual([]);
  } else {
    expect(faultsOf(schemaOf(what), value)).toEqual([]);
  }
}

describe('an example', () => {
  test.each(examples)('at $where says what it is', ({ what }) => {
    expect(what).toMatch(/^(event|rate card|other: .{10,}|[A-Z]+ \/\S+ (\d{3}|request))$/);
  });

  test.each(examples)('at $where is what its schema says: $what', checkExample);

  test('is found in the documents', () => {
    expect(examples.length).toBeGreaterThan(15);
  });

  test('that is wrong is noticed', () => {
    const example = (what: string, value: object) => () =>
      checkExample({ what, text: JSON.stringify(value) });
    expect(example('POST /v1/signup 201', { tenant: 't_e3131c22f12898a2' })).toThrow();
    expect(example('POST /v1/keys request', { name: 'a', kind: 'relay', more: 1 })).toThrow();
    expect(example('POST /v1/nothing request', {})).toThrow('no schema');
    const amount = { micros: 1, display: '$0.000001' };
    const event = (data: object) =>
      example('event', {
        ...{
          id: 'evt_1',
          seq: 1,
          type: 'balance_low',
          schema_version: 1,
          timestamp: '2026-11-22T18:00:00.000Z',
        },
        data,
      });
    expect(event({ balance: amount, below: amount })).not.toThrow();
    expect(event({ balance: '1', below: '2' })).toThrow();
  });
});

describe('a table of events in docs/alerts.md', () => {
  const rows = [...readPage('docs/alerts.md').matchAll(/^\| `(\w+)` +\|.*?\| ([^|]*) \|$/gm)].flatMap(
    ([, type, subject]) => (type! in DATA ? [{ type: type!, subject: subject! }] : []),
  );

  test('has every event that it promises', () => {
    expect(rows.map(({ type }) => type).sort()).toEqual(Object.keys(DATA).sort());
  });

  test.each(rows)('names the members of $type as receivers get them', ({ type, subject }) => {
    const names = [...subject.matchAll(/`([\w]+)`/g)].map(([, name]) => name);
    expect(names.sort()).toEqual(Object.keys(DATA[type]!).sort());
  });
});
