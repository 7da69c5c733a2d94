import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { CONSOLE_STREAMS_LIMIT } from '../../../src/control/streams/stream-limit.ts';
import { getPage, makeMember, sendForm, type TestMember } from '../../support/console.ts';
import { readEvents } from '../../support/console-stream.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService({ isRestricted: true });
const db = () => app.service.deps.db;
const STREAM = '/console/overview/events';
let tenant: TestTenant;
let owner: TestMember;

beforeAll(async () => {
  tenant = await app.paidTenant();
  owner = await makeMember(db(), idOf(tenant));
});

const open = (cookie: string) => readEvents(`${app.url}${STREAM}`, cookie, { accept: 'text/event-stream' });
const parts = (text: string) => [...text.matchAll(/event: part\ndata: (.*)\n\n/g)].map(([, data]) => data!);

/** What costs six cents. */
async function spend(id: string): Promise<void> {
  const record = { id, room: 'lobby', participant: 'ann', role: 'host', tier: 'hd' };
  const records = [{ ...record, seconds: 60, egress_bytes: 2 ** 30, ingress_bytes: 0 }];
  expect((await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } })).status).toBe(
    200,
  );
}

const balanceIn = (text: string) => /Exactly (\$[\d,.]+)/.exec(text)?.[1];

describe('the figures of the overview', () => {
  test('come again when the balance changes, as they are on the page, and end with the session', async () => {
    const stream = await open(owner.cookie);
    await vi.waitFor(() => expect(parts(stream.text()).length).toBe(1));
    const before = balanceIn(stream.text());
    await spend('live-1');
    await vi.waitFor(() => expect(parts(stream.text()).length).toBe(2));
    const page = await getPage(app, '/console', owner.cookie);
    const [, cards] = /(<div class="cards" id="cards">.*?)\n<p class="hint" role="status"/s.exec(page.text)!;
    expect(parts(stream.text())[1]).toBe(cards!.replace(/[\r\n]+/g, ' '));
    expect(balanceIn(page.text)).not.toBe(before);
    const again = await makeMember(db(), idOf(tenant));
    const other = await open(again.cookie);
    await sendForm(app, '/console/logout', {}, again);
    await vi.waitFor(() => expect(other.text()).toContain('event: over'));
    await vi.waitFor(() => expect(other.isOver()).toBe(true));
    await stream.leave();
  });

  test('have no amounts for moderators', async () => {
    const moderator = await makeMember(db(), idOf(tenant), { role: 'moderator' });
    const stream = await open(moderator.cookie);
    await vi.waitFor(() => expect(parts(stream.text()).length).toBe(1));
    expect(parts(stream.text())[0]).toContain('New sessions');
    expect(stream.text()).not.toMatch(/\$\d/);
    await stream.leave();
  });
});

describe('pages that are open', () => {
  test('take no event streams of the tenant, and one beyond their limit is told so and stays whole', async () => {
    const signedUp = await app.signUp();
    const member = await makeMember(db(), idOf(signedUp));
    const pages = await Promise.all(
      Array.from({ length: CONSOLE_STREAMS_LIMIT.pending }, () => open(member.cookie)),
    );
    for (const page of pages) await vi.waitFor(() => expect(parts(page.text()).length).toBe(1));
    for (const path of [STREAM, '/console/rooms/events?after=0-']) {
      const beyond = await readEvents(`${app.url}${path}`, member.cookie, { accept: 'text/event-stream' });
      await vi.waitFor(() => expect(beyond.isOver()).toBe(true));
      expect([beyond.answer.status, beyond.text()]).toEqual([200, 'event: full\ndata: full\n\n']);
    }
    expect((await getPage(app, '/console', member.cookie)).status).toBe(200);
    const machine = await readEvents(`${app.url}/v1/events`, '', {
      accept: 'text/event-stream',
      authorization: `Bearer ${signedUp.key}`,
    });
    expect(machine.answer.status).toBe(200);
    await Promise.all([machine, ...pages].map((each) => each.leave()));
    // A page that is closed makes room for the next one.
    const opensAgain = async () => {
      const next = await open(member.cookie);
      await vi.waitFor(() => expect(next.text()).not.toBe(''));
      await next.leave();
      return parts(next.text()).length;
    };
    await expect.poll(opensAgain).toBe(1);
  });
});

describe('what an open page asks by itself', () => {
  const seenAt = async ({ id }: TestMember) => {
    const { rows } = await db().query<{ ago: number }>(
      `select floor(extract(epoch from now() - seen_at) / 3600)::integer as ago from console_sessions where member_id = $1`,
      [id],
    );
    return rows[0]!.ago;
  };
  const idle = (member: TestMember) =>
    db().query("update console_sessions set seen_at = now() - interval '11 hours' where member_id = $1", [
      member.id,
    ]);

  test('is no use of the session, which a click is', async () => {
    const member = await makeMember(db(), idOf(tenant));
    await idle(member);
    const stream = await open(member.cookie);
    await vi.waitFor(() => expect(parts(stream.text()).length).toBe(1));
    const headers = { cookie: member.cookie, 'by-itself': '1' };
    expect((await fetch(`${app.url}/console/start`, { headers })).status).toBe(200);
    expect(await seenAt(member)).toBe(11);
    expect((await getPage(app, '/console', member.cookie)).status).toBe(200);
    expect(await seenAt(member)).toBe(0);
    await stream.leave();
  });
});

describe('a page', () => {
  const ask = (coding: string) =>
    fetch(`${app.url}/console`, { headers: { cookie: owner.cookie, 'accept-encoding': coding } });

  test.each([
    ['br', (bytes: Buffer) => brotliDecompressSync(bytes)],
    ['gzip', (bytes: Buffer) => gunzipSync(bytes)],
  ])('is compressed by %s, if the browser takes it', async (coding, decompress) => {
    // Read as it was sent: `fetch` decompresses what it asked for.
    const { request } = await import('node:http');
    const sent = await new Promise<{ coding: string | undefined; bytes: Buffer }>((resolve, reject) => {
      const headers = { cookie: owner.cookie, 'accept-encoding': coding };
      request(`${app.url}/console`, { headers }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk) => chunks.push(chunk));
        answer.on('end', () =>
          resolve({ coding: answer.headers['content-encoding'], bytes: Buffer.concat(chunks) }),
        );
      })
        .on('error', reject)
        .end();
    });
    const plain = decompress(sent.bytes).toString();
    expect([sent.coding, plain.includes('<h1>'), sent.bytes.length < plain.length / 2]).toEqual([
      coding,
      true,
      true,
    ]);
  });

  test('is plain otherwise, and says that it depends', async () => {
    const answer = await ask('identity');
    expect([answer.headers.get('content-encoding'), answer.headers.get('vary')]).toEqual([
      null,
      'accept-encoding',
    ]);
    expect(await answer.text()).toContain('<h1>');
  });
});

test('a session that is not there gets no stream', async () => {
  const answer = await fetch(`${app.url}${STREAM}`, { redirect: 'manual' });
  expect(answer.status).toBe(303);
});
