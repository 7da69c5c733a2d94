/** The order of the checks: of two mistakes in a join, the earlier one is reported. */
import { describe, expect, test } from 'vitest';
import { createCredential, deviceKey, endRoom, expectJoined, join, spendAll } from '../../support/devices.ts';
import { changeReferenceTable } from '../../support/reference-tables.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { rawRequest, sendBytes, setStatus } from '../rest/support.ts';

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

/** Faults of what the headers show: they are reported before the body is there. */
const OF_HEADERS = FAULTS.slice(
  1,
  FAULTS.findIndex(({ name }) => name === 'a bad body'),
);

async function setUp(faults: readonly Fault[]): Promise<Setup> {
  const tenant = await app.paidTenant();
  const setup: Setup = { tenant, ...(await createCredential(app, tenant)), fields: {}, method: 'POST' };
  // The room already exists, and may have ended.
  expectJoined(await join(app, setup.credential));
  for (const fault of faults) await fault.apply(setup);
  return setup;
}

/** The request of a set-up: its head, and its body. */
function partsOf(setup: Setup): readonly [head: string, body: string] {
  const body = JSON.stringify({ username: 'ann', key: deviceKey(), ...setup.fields });
  const headers = {
    authorization: `Bearer ${setup.credential}`,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
  };
  return [rawRequest(`${setup.method} /join HTTP/1.1`, headers), body];
}

/** The body comes with the head. */
async function answerWith(...faults: readonly Fault[]) {
  return sendBytes(app.url, partsOf(await setUp(faults)).join(''));
}

/** As with a slow client: the body is sent once the service has counted the join, and not at all if it answers before. */
async function answerWithLateBody(...faults: readonly Fault[]) {
  const setup = await setUp(faults);
  const windows = () =>
    query('select from rate_limits where key = $1', [`join:${setup.id}`]).then(({ rowCount }) => rowCount);
  await query('delete from rate_limits where key = $1 and points < 30', [`join:${setup.id}`]);
  const [head, body] = partsOf(setup);
  const isEarly = faults.some((fault) => OF_HEADERS.includes(fault));
  const afterwards = isEarly
    ? undefined
    : () =>
        expect
          .poll(windows)
          .toBe(1)
          .then(() => body);
  return sendBytes(app.url, head, { afterwards });
}

/** The body is sent once the service has counted the join and `meanwhile` is done. */
async function answerAfter(meanwhile: (setup: Setup) => Promise<unknown>) {
  const setup = await setUp([]);
  const key = `join:${setup.id}`;
  await query('delete from rate_limits where key = $1', [key]);
  const [head, body] = partsOf(setup);
  const points = () =>
    query('select points from rate_limits where key = $1', [key]).then(({ rows }) => rows[0]?.points);
  const afterwards = async () => {
    await expect.poll(points).toBe(1);
    await meanwhile(setup);
    return body;
  };
  const answer = await sendBytes(app.url, head, { afterwards });
  return { ...answer, joins: await points() };
}

describe('a body that comes after its headers', () => {
  test('is no join once the credential is revoked', async () => {
    const answer = await answerAfter(async ({ tenant, id }) => {
      const revoked = await app.request('DELETE', `/v1/device-credentials/${id}`, { key: tenant.key });
      expect(revoked.status).toBe(204);
    });
    expect([answer.status, answer.text, answer.joins]).toEqual([401, 'invalid api key', 1]);
  });

  test('is no join once the tenant is suspended, and counts once', async () => {
    const answer = await answerAfter(({ tenant }) => setStatus(app, tenant, 'suspended'));
    expect([answer.status, answer.text, answer.joins]).toEqual([403, 'tenant is not active', 1]);
  });

  test('is a join, and counts once', async () => {
    expect((await answerWithLateBody()).status).toBe(200);
  });

  test.each(FAULTS.slice(1).map((fault) => [fault.name, fault] as const))('%s', async (_name, fault) => {
    const answer = await answerWithLateBody(fault);
    expect([answer.status, answer.text]).toStrictEqual([fault.status, expect.stringMatching(fault.text)]);
  });
});

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
