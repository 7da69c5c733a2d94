/** The order of the checks: of two mistakes in a join, the earlier one is reported. */
import { describe, expect, test } from 'vitest';
import { createCredential, deviceKey, endRoom, expectJoined, join, spendAll } from '../../support/devices.ts';
import { changeReferenceTable } from '../../support/reference-tables.ts';
import { ask, type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { setStatus } from '../rest/support.ts';

const app = useService();

/** A join that would succeed, and its possible faults. */
interface Setup {
  readonly tenant: TestTenant;
  readonly id: string;
  readonly fields: Record<string, unknown>;
  method: string;
  credential: string;
}

interface Fault {
  readonly name: string;
  readonly status: number;
  readonly text: RegExp;
  apply(setup: Setup): unknown;
}

const query = (text: string, values: unknown[]) => app.service.deps.db.query(text, values);

const change = (text: string, values: unknown[]) => changeReferenceTable(app.service.deps.db, text, values);

/** In the order in which they are reported. */
const FAULTS: readonly Fault[] = [
  {
    name: 'another method',
    status: 405,
    text: /^method not allowed$/,
    apply: (setup) => {
      setup.method = 'PUT';
    },
  },
  {
    name: 'a wrong secret',
    status: 401,
    text: /^invalid api key$/,
    apply: (setup) => {
      setup.credential = `${setup.credential.slice(0, 21)}${'A'.repeat(43)}`;
    },
  },
  {
    name: 'no publish rights',
    status: 403,
    text: /no publish rights$/,
    apply: ({ id }) => change(`update device_credentials set publish = '{}' where id = $1`, [id]),
  },
  {
    name: 'too many joins',
    status: 429,
    text: /^too many joins/,
    apply: ({ id }) =>
      query(
        `insert into rate_limits (key, points, expire) values ($1, 30, extract(epoch from now()) * 1000 + 60000)
         on conflict (key) do update set points = 30`,
        [`join:${id}`],
      ),
  },
  {
    name: 'a bad body',
    status: 400,
    text: /^invalid request: /,
    apply: ({ fields }) => {
      fields.username = '';
    },
  },
  {
    name: 'another tenant',
    status: 403,
    text: /another tenant$/,
    apply: ({ fields }) => {
      fields.tenant = 't_0123456789abcdef';
    },
  },
  {
    name: 'a room outside',
    status: 403,
    text: /not for this room$/,
    apply: ({ id }) => change(`update device_credentials set rooms = '{elsewhere}' where id = $1`, [id]),
  },
  {
    name: 'a suspended tenant',
    status: 403,
    text: /^tenant is not active$/,
    apply: ({ tenant }) => setStatus(app, tenant, 'suspended'),
  },
  {
    name: 'a spent balance',
    status: 402,
    text: /^insufficient credit/,
    apply: ({ tenant }) => spendAll(app, tenant),
  },
  {
    name: 'an ended room',
    status: 409,
    text: /^room has ended$/,
    apply: ({ tenant }) => endRoom(app, tenant, 'lobby'),
  },
  {
    name: 'the name of a host',
    status: 409,
    text: /^username belongs to a user in the room with a higher rank$/,
    apply: ({ tenant }) => query('update admissions set rank = 80 where tenant_id = $1', [idOf(tenant)]),
  },
];

async function answerWith(...faults: readonly Fault[]) {
  const tenant = await app.paidTenant();
  const setup: Setup = { tenant, ...(await createCredential(app, tenant)), fields: {}, method: 'POST' };
  // The room already exists, and may have ended.
  expectJoined(await join(app, setup.credential));
  for (const fault of faults) await fault.apply(setup);
  return ask(`${app.url}/join`, setup.method, {
    key: setup.credential,
    body: { username: 'ann', key: deviceKey(), ...setup.fields },
  });
}

describe.each(FAULTS.map((fault, at) => [fault.name, fault, at] as const))('%s', (_name, fault, at) => {
  test('by itself', async () => {
    const answer = await answerWith(fault);
    expect([answer.status, answer.text]).toStrictEqual([fault.status, expect.stringMatching(fault.text)]);
  });

  test.each(FAULTS.slice(at + 1).map((later) => [later.name, later] as const))(
    'is reported before %s',
    async (_later, later) => {
      const answer = await answerWith(later, fault);
      expect([answer.status, answer.text]).toStrictEqual([fault.status, expect.stringMatching(fault.text)]);
    },
  );
});

test('a suspended tenant that never paid gets the error for its status', async () => {
  const tenant = await app.signUp();
  const { credential } = await createCredential(app, tenant);
  await setStatus(app, tenant, 'archived');
  expect((await join(app, credential)).text).toBe('tenant is not active');
});
