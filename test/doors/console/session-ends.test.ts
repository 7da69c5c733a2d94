import { Agent, get } from 'node:http';
import { afterAll, describe, expect, test } from 'vitest';
import { changeStatus } from '../../../src/money/tenant-status/change-status.ts';
import { useChildService } from '../../support/child-service.ts';
import { cookieOf, makeMember, sendForm } from '../../support/console.ts';
import { ask, type TestTenant, useService } from '../../support/service.ts';
import { idOf, setLimits } from '../../support/tenants.ts';

const app = useService();
const db = () => app.service.deps.db;
const database = {
  get url() {
    return app.ownerUrl;
  },
};
const processes = [useChildService(database), useChildService(database), useChildService(database)];

/** In all, after the sessions have ended. */
const REQUESTS = 10_000;
/** At the same time, to each process. */
const AT_ONCE = 8;

const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
afterAll(() => agent.destroy());

async function statusAt(url: string, cookie: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  get(`${url}/console/tenants`, { agent, headers: { cookie } }, (answer) => {
    answer.resume();
    answer.once('end', () => resolve(answer.statusCode!));
  }).once('error', reject);
  return promise;
}

interface Open {
  readonly of: TestTenant;
  readonly cookie: string;
  readonly memberId?: string;
}

/** One person makes all of the requests. */
async function openTenant(): Promise<TestTenant> {
  const of = await app.paidTenant();
  await setLimits(db(), of, { console_requests_per_minute: REQUESTS });
  return of;
}

const asMember = async (): Promise<Open> => {
  const of = await openTenant();
  const { id, cookie } = await makeMember(db(), idOf(of), { role: 'viewer' });
  return { of, cookie, memberId: id };
};

const asKey = async (): Promise<Open> => {
  const of = await openTenant();
  const { json } = await app.request('POST', '/console/session', { key: of.key });
  return { of, cookie: cookieOf(await sendForm(app, new URL(json.url).pathname, {})) };
};

interface Way {
  readonly begin: () => Promise<Open>;
  /** At one of the processes. */
  readonly end: (session: Open, url: string) => Promise<unknown>;
}

const WAYS: Readonly<Record<string, Way>> = {
  'a log-out': {
    begin: asMember,
    end: ({ cookie }, url) =>
      sendForm({ ...app, url, config: app.config }, '/console/logout', {}, { cookie }),
  },
  'the removal of the member': {
    begin: asMember,
    end: async ({ of, memberId }, url) => {
      const { cookie } = await makeMember(db(), idOf(of));
      const at = { ...app, url, config: app.config };
      expect((await sendForm(at, `/console/members/${memberId}/remove`, {}, { cookie })).status).toBe(303);
    },
  },
  'the suspension of the tenant': {
    begin: asMember,
    end: ({ of }) => changeStatus(db(), { kind: 'operator', id: 'test' }, idOf(of), 'suspended', 'test'),
  },
  'the revocation of the key': {
    begin: asKey,
    end: async ({ of }, url) => {
      const made = await app.request('POST', '/v1/keys', { key: of.key, body: { name: 'other' } });
      const revoked = await ask(`${url}/v1/keys/${of.keyId}`, 'DELETE', { key: made.json.api_key });
      expect(revoked.status).toBe(204);
    },
  },
};

describe('with three processes', () => {
  test(`none accepts a session that has ended: ${REQUESTS} requests, after each way of ending`, async () => {
    await Promise.all(processes.map((each) => each.start()));
    const urls = processes.map(({ url }) => url);
    const ways = Object.entries(WAYS);
    for (const [at, [way, { begin, end }]] of ways.entries()) {
      const session = await begin();
      for (const url of urls) expect([way, await statusAt(url, session.cookie)]).toEqual([way, 200]);
      await end(session, urls[at % urls.length]!);
      const statuses = await Promise.all(
        Array.from({ length: REQUESTS / ways.length }, (_, number) =>
          statusAt(urls[number % urls.length]!, session.cookie),
        ),
      );
      // People of a suspended tenant get a page that says so.
      const refusal = way === 'the suspension of the tenant' ? 403 : 303;
      expect([way, statuses.filter((status) => status !== refusal)]).toEqual([way, []]);
    }
  }, 300_000);
});
