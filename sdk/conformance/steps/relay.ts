/** The relay half: reports of usage over a spool, the feed of revocations, and keys that are fetched. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { audienceOf } from '../../../src/access/tokens/participant-token.ts';
import { bareConfig } from '../../../test/support/bare-config.ts';
import { openUsageReporter } from '../../typescript/src/relay/usage/index.ts';
import type { Watch } from '../client.ts';
import type { Json, Outcome } from '../driver.ts';
import { type At, type House, known, type Step, waitFor } from '../step.ts';
import { thumbprintOf } from './devices.ts';

const TOKENS = join(import.meta.dirname, '../../../docs/vectors/participant-tokens.json');
const RECORD = { room: 'lobby', role: 'host', tier: 'hd', seconds: 60, egress_bytes: 9, ingress_bytes: 7 };
const PEOPLE = ['ann', 'bob', 'cyd'];
const RECORDS = PEOPLE.map((participant) => ({ ...RECORD, participant }));
const NOWHERE = 'http://127.0.0.1:1';
const SENDS_MS = 30_000;

/** A folder that ends with the step. */
function folderFor(at: At): string {
  const folder = mkdtempSync(join(tmpdir(), 'boxoffice-spool-'));
  at.onEnd(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** What a reporter of the SDK makes of records: it is opened, stores them, and is closed. */
async function report(at: At, request: object): Promise<Outcome> {
  return known(
    await at.driver.ask({ op: 'report', request: { close_ms: SENDS_MS, records: [], ...request } }),
  );
}

/** Without ids, which differ. */
function countsOf({ ok, error }: Outcome): Json {
  return error === undefined ? { stored: ok.ids.length, left: ok.left, admitted: ok.admitted } : { error };
}

async function chargedTo({ direct }: House): Promise<Json[]> {
  const charged: Json[] = [];
  for await (const { id, participant, egressBytes } of direct.usage.records()) {
    charged.push({ record: id, participant, egress: Number(egressBytes) });
  }
  return charged;
}

const namesOf = (charged: readonly Json[]) => charged.map(({ participant }) => participant).sort();

/** The records that files of a folder hold. */
function storedIn(folder: string): Json[] {
  const segments = readdirSync(folder).filter((name) => name.endsWith('.segment'));
  const lines = segments.flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1));
  return lines.map((line) => JSON.parse(line.slice(18)));
}

/** Starts a feed of the SDK. It tells what it knows, whenever that has changed. */
function follow(at: At, url: string, { id, relayKey }: House): Watch {
  const { publicUrl } = bareConfig('');
  const request = {
    url,
    jwks_url: `${at.world.url}/.well-known/jwks.json`,
    tenant: id,
    issuer: publicUrl,
    audience: audienceOf(publicUrl),
    relay_key: relayKey,
  };
  return at.follow(request);
}

async function heard(feed: Watch, isWanted: (told: Json) => boolean): Promise<Json> {
  for (;;) {
    const { event, error } = await feed.next();
    if (event === undefined) {
      known({ error });
      throw new Error(`the feed ended: ${JSON.stringify(error)}`);
    }
    if (isWanted(event)) return event;
  }
}

/** A server of keys that ends with the step; `status` is that of its answers. */
async function serveKeys(at: At, status: number): Promise<{ url: string; asked: () => number }> {
  const { jwks } = JSON.parse(readFileSync(TOKENS, 'utf8'));
  let asked = 0;
  const server = createServer((_, response) => {
    asked += 1;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(jwks));
  });
  return { url: `http://${await at.listen(server)}/jwks.json`, asked: () => asked };
}

export const RELAY: readonly Step[] = [
  {
    name: 'a reporter of usage: each record is charged once, although answers break',
    run: async (at) => {
      const house = await at.house();
      const rest = await at.proxy(at.world.service.port);
      // The first answer, to the empty batch, is whole or not; the next one breaks.
      rest.cutAfterBytes = 400;
      const spool = folderFor(at);
      const outcome = await report(at, { url: rest.url, key: house.relayKey, spool, records: RECORDS });
      const charged = await chargedTo(house);
      const ids = charged.map(({ record }) => record).sort();
      return {
        ...countsOf(outcome),
        charged: namesOf(charged),
        areTheirs: JSON.stringify(outcome.ok?.ids.toSorted()) === JSON.stringify(ids),
        files: readdirSync(spool),
      };
    },
    expect: {
      stored: 3,
      left: undefined,
      admitted: 'true',
      charged: PEOPLE,
      areTheirs: true,
      files: undefined,
    },
  },
  {
    name: 'a spool: what was stored without a service is sent by the next start, also in another language',
    run: async (at) => {
      const house = await at.house();
      const { relayKey: key } = house;
      const [own, other] = [folderFor(at), folderFor(at)];
      const away = await report(at, { url: NOWHERE, key, spool: own, records: RECORDS, close_ms: 0 });
      const stored = storedIn(own).map(({ id: _, ...record }) => record);

      const options = { key, relayId: 'reference' };
      const writing = await openUsageReporter({ ...options, url: NOWHERE, spool: other });
      for (const participant of PEOPLE) {
        const usage = { room: 'attic', participant, role: 'host', tier: 'hd', seconds: 1 } as const;
        const recorded = writing.record({ ...usage, egressBytes: 1, ingressBytes: 1 });
        await writing.sync();
        await recorded;
      }
      await writing.close({ deadlineSeconds: 0 });
      const sent = await report(at, { url: at.world.url, key, spool: other });

      const reading = await openUsageReporter({ ...options, url: at.world.url, spool: own });
      const { left } = await reading.close({ deadlineSeconds: SENDS_MS / 1000 });
      return {
        away: countsOf(away),
        stored,
        sent: countsOf(sent),
        left,
        charged: namesOf(await chargedTo(house)),
      };
    },
    expect: {
      away: { stored: 3, left: 3, admitted: 'unknown' },
      stored: RECORDS,
      sent: { stored: undefined, left: undefined, admitted: 'true' },
      left: undefined,
      charged: [...PEOPLE, ...PEOPLE].sort(),
    },
  },
  {
    name: 'a reporter of usage: a record that the service refuses is set aside, and holds up no other',
    run: async (at) => {
      const house = await at.house();
      const spool = folderFor(at);
      const records = [...RECORDS, { ...RECORD, participant: 'bad', tenant: 't_0000000000000000' }];
      const outcome = await report(at, { url: at.world.url, key: house.relayKey, spool, records });
      const aside = join(spool, 'quarantine.jsonl');
      const kept = existsSync(aside) ? JSON.parse(readFileSync(aside, 'utf8')) : {};
      return {
        ...countsOf(outcome),
        charged: namesOf(await chargedTo(house)),
        kept: kept.record?.participant,
        message: kept.message,
      };
    },
    expect: { stored: 4, left: undefined, charged: PEOPLE, kept: 'bad', message: /tenant/ },
  },
  {
    name: 'a reporter of usage: what it refuses at once, and a folder that is taken',
    run: async (at) => {
      const { relayKey: key } = await at.house();
      const with_ = (change: object) =>
        report(at, {
          url: NOWHERE,
          key,
          spool: folderFor(at),
          records: [{ ...RECORD, ...change }],
          close_ms: 0,
        });
      const taken = folderFor(at);
      const owner = await openUsageReporter({ url: NOWHERE, key, spool: taken, relayId: 'reference' });
      at.onEnd(() => owner.close({ deadlineSeconds: 0 }));
      return {
        role: await with_({ role: 'king' }),
        tier: await with_({ tier: '8k' }),
        room: await with_({ room: 'x'.repeat(201) }),
        seconds: await with_({ seconds: 86_400 * 100 + 1 }),
        egress: await with_({ egress_bytes: 2 ** 53 }),
        address: await report(at, { url: 'ftp://127.0.0.1', key, spool: folderFor(at) }),
        taken: await report(at, { url: NOWHERE, key, spool: taken, close_ms: 0 }),
      };
    },
    expect: {
      ...Object.fromEntries(
        ['role', 'tier', 'room', 'seconds', 'egress'].map((name) => [
          name,
          { error: { code: 'invalid_usage' } },
        ]),
      ),
      address: { error: { code: 'invalid_options' } },
      taken: { error: { code: 'spool_in_use' } },
    },
  },
  {
    name: 'a feed: a relay hears of credit, a ban, a kick and a closed room, also after its stream broke',
    run: async (at) => {
      const house = await at.house({ rooms: ['lobby', 'attic'] });
      const rest = await at.proxy(at.world.service.port);
      const lobby = { room: 'lobby', username: 'ann' };
      await house.direct.tokens.mint({ ...lobby, deviceThumbprint: thumbprintOf('ann') });
      const feed = follow(at, rest.url, house);
      const first = await heard(feed, ({ admitted }) => admitted === 'true');
      await house.direct.moderation.ban({ username: 'villain' });
      const banned = await heard(feed, ({ bans }) => bans === 1);
      rest.cut();
      await house.direct.moderation.kick(lobby);
      await house.direct.moderation.closeRoom({ room: 'attic' });
      const last = await heard(
        feed,
        ({ admitted, closed, epochs }) => admitted === 'true' && closed + epochs === 2,
      );
      return { first, banned, last, end: await feed.end() };
    },
    expect: {
      first: { admitted: 'true' },
      banned: { bans: 1 },
      last: { bans: 1, closed: 1, epochs: 1 },
      end: { error: { kind: 'Cancelled' } },
    },
  },
  {
    name: 'a redirection is not followed: a relay sends its key, and asks for keys, nowhere else',
    against: 'a script',
    run: async (at) => {
      const house = await at.house();
      let arrived = 0;
      const elsewhere = createServer((_, response) => {
        arrived += 1;
        response.end('{}');
      });
      const location = `http://${await at.listen(elsewhere)}/`;
      let asked = 0;
      const moving = createServer((_, response) => {
        asked += 1;
        response.writeHead(307, { location }).end();
      });
      const moved = `http://${await at.listen(moving)}`;
      const reported = await report(at, {
        ...{ url: moved, key: house.relayKey, spool: folderFor(at) },
        ...{ records: [RECORDS[0]], close_ms: 5_000 },
      });
      const before = asked;
      const feed = follow(at, moved, house);
      await waitFor(
        () => asked,
        (count) => count > before,
      );
      await feed.end();
      const { ok } = known(await at.driver.ask({ op: 'vectors', file: TOKENS, jwks_url: `${moved}/jwks` }));
      return { reported: countsOf(reported), hasAsked: before > 0, good: ok?.good, arrived };
    },
    expect: {
      reported: { stored: 1, left: 1, admitted: 'unknown' },
      hasAsked: true,
      good: 'KEYS_UNAVAILABLE',
      arrived: undefined,
    },
  },
  {
    name: 'keys: they are fetched, and without them nobody is admitted',
    against: 'a script',
    run: async (at) => {
      const decide = async (url: string) =>
        known(await at.driver.ask({ op: 'vectors', file: TOKENS, jwks_url: url })).ok;
      const [good, bad] = [await serveKeys(at, 200), await serveKeys(at, 500)];
      const { vectors } = JSON.parse(readFileSync(TOKENS, 'utf8'));
      const [fetched, failed] = [await decide(good.url), await decide(bad.url)];
      const differ = vectors.filter(({ name, code }: Json) => (fetched?.[name] ?? null) !== (code ?? null));
      return {
        differ: differ.map(({ name }: Json) => name),
        good: failed?.good,
        malformed: failed?.['typ JWT'],
        haveAsked: [good.asked() > 0, bad.asked() > 0],
      };
    },
    expect: {
      differ: undefined,
      good: 'KEYS_UNAVAILABLE',
      malformed: 'TOKEN_WRONG_TYPE',
      haveAsked: [true, true],
    },
  },
];
