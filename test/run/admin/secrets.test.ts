import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { keepForm, takeForm } from '../../../src/access/sessions/keep-form.ts';
import type { Session } from '../../../src/access/sessions/session.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { SecretBox } from '../../../src/base/lib/secret-box.ts';
import { OwnProcess } from '../../../src/base/processes/own-process.ts';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { ConsoleMailRows } from '../../../src/outward/mail/console-mail-rows.ts';
import { SEALED_COLUMNS } from '../../../src/run/sealed-columns.sql.ts';
import { type Service, startService } from '../../../src/run/service.ts';
import { bareConfig } from '../../support/bare-config.ts';
import { useDatabase } from '../../support/database.ts';
import { ask } from '../../support/service.ts';
import { runAdmin } from './support.ts';

const database = useDatabase();
const TABLES = SEALED_COLUMNS.map(({ table }) => table);
const FORM = new Map([['name', 'typed']]);

let before: Buffer;
let after: Buffer;
let key: string;
let session: Session;
let form: string;
let created: string;
let service: Service | undefined;

const repeated = { 'idempotency-key': 'of-a-key' };
const call = async (method: string, path: string, options: Parameters<typeof ask>[2] = {}) => {
  const answer = await ask(`http://127.0.0.1:${service!.port}${path}`, method, { key, ...options });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.json;
};
const createKey = () =>
  call('POST', '/v1/keys', { body: { name: 'relay', kind: 'relay' }, headers: repeated }).then(
    ({ api_key: apiKey }) => apiKey as string,
  );

async function stop(): Promise<void> {
  const stopping = service;
  service = undefined;
  await stopping?.stop();
}

async function serve(secretsKey: Buffer, secretsKeyFallback?: Buffer): Promise<void> {
  await stop();
  const config = { ...bareConfig(database.url), secretsKey, secretsKeyFallback };
  service = await startService(config, pino({ level: 'silent' }));
}

const rotate = (secretsKey: Buffer, fallback?: Buffer) =>
  runAdmin(
    {
      DATABASE_URL: database.url,
      SECRETS_KEY: secretsKey.toString('base64'),
      SECRETS_KEY_FALLBACK: fallback?.toString('base64') ?? '',
    },
    'secrets',
    'rotate',
    '--json',
  );

async function entries() {
  const { rows } = await database.pool.query(
    `select actor_kind as kind, after->>'values' as values from audit_entries where action = 'secrets_renewed'`,
  );
  return rows;
}

/** Which tables have something that a box opens. */
async function openedBy(box: SecretBox): Promise<string[]> {
  const opened: string[] = [];
  for (const { table, column, contextOf } of SEALED_COLUMNS) {
    const { rows } = await database.pool.query(`select * from ${table} where ${column} is not null`);
    if (rows.some((row) => box.isSealedByKey(row[column], contextOf(row)))) opened.push(table);
  }
  return opened;
}

describe('admin secrets rotate', () => {
  /** Something of each kind, sealed with `before`. */
  beforeEach(async () => {
    [before, after] = [randomBytes(32), randomBytes(32)];
    await database.pool.query('delete from signing_keys');
    await serve(before);
    const signedUp = await ask(`http://127.0.0.1:${service!.port}/v1/signup`, 'POST', {
      body: { name: 'Ada', email: 'ada@example.com' },
    });
    key = signedUp.json.api_key;
    created = await createKey();
    const url = 'https://receiver.example/';
    await call('POST', '/v1/webhooks', { body: { url, headers: [{ name: 'x-ours', value: 'secret' }] } });
    const box = new SecretBox(before);
    session = {
      tenant: parseTenantId(signedUp.json.tenant)!,
      proof: 'key',
      keyId: 'one',
    } as unknown as Session;
    form = (await keepForm({ db: database.pool, box }, session, '/console/keys', FORM))!;
    const mail = { type: 'login_link', to: 'ada@example.com', secret: 's' } as const;
    await inTransaction(database.pool, (tx) => new ConsoleMailRows(box).write(tx, mail));
    expect(await openedBy(box)).toEqual(TABLES);
  });
  afterEach(async () => {
    await stop();
    await database.pool.query(`update webhook_endpoints set sealed_headers = null, header_names = '{}'`);
    for (const table of ['webhook_secrets', 'idempotency_keys', 'mails', 'kept_forms'])
      await database.pool.query(`delete from ${table}`);
  });

  test('leaves nothing that needs the old key, and all of it readable throughout', async () => {
    await serve(after, before);
    expect(await createKey()).toBe(created);
    const { code, json } = await rotate(after, before);
    expect({ code, done: json.done }).toEqual({ code: 0, done: true });
    expect(json.tables.map(({ table }: { table: string }) => table)).toEqual(TABLES);
    for (const each of json.tables) expect(each).toMatchObject({ lost: 0, renewed: expect.any(Number) });
    const values = json.tables.reduce((sum: number, { renewed }: { renewed: number }) => sum + renewed, 0);
    expect(values).toBeGreaterThanOrEqual(TABLES.length);
    expect(await entries()).toEqual([{ kind: 'operator', values: String(values) }]);
    expect(await openedBy(new SecretBox(before))).toEqual([]);
    expect(await openedBy(new SecretBox(after))).toEqual(TABLES);
    expect(await createKey()).toBe(created);

    await serve(after);
    expect(await createKey()).toBe(created);
    expect((await call('GET', '/v1/webhooks')).webhooks[0].public_keys).toHaveLength(1);
    const box = new SecretBox(after);
    expect(await takeForm({ db: database.pool, box }, session, '/console/keys', form)).toEqual(FORM);
    const again = await rotate(after);
    expect({ code: again.code, done: again.json.done }).toEqual({ code: 0, done: true });
    expect(await entries()).toHaveLength(1);
  });

  test('may end in its middle: both keys open everything, and the next one goes on', async () => {
    await stop();
    await database.pool.query(
      `create function stop_here() returns trigger language plpgsql as $$ begin raise exception 'killed'; end $$;
       create trigger stop_here before update on idempotency_keys for each row execute function stop_here()`,
    );
    onTestFinished(async () => void (await database.pool.query('drop function if exists stop_here cascade')));
    expect(await rotate(after, before)).toMatchObject({ code: 1, err: 'killed\n' });
    const renewed = await openedBy(new SecretBox(after));
    expect(renewed.length).toBeGreaterThan(0);
    expect(renewed.length).toBeLessThan(TABLES.length);
    await database.pool.query('drop function stop_here cascade');
    // Begun anew with either key in the first place.
    await serve(before, after);
    expect(await createKey()).toBe(created);
    await serve(after, before);
    expect(await createKey()).toBe(created);
    expect(await rotate(after, before)).toMatchObject({ code: 0 });
    expect(await openedBy(new SecretBox(before))).toEqual([]);
  });

  test('is refused while a process seals with another key, or does not say with which', async () => {
    const line = '1 processes seal with another key: start them again with this SECRETS_KEY first\n';
    await serve(before, after);
    expect(await rotate(after, before)).toMatchObject({ code: 1, err: line, out: '' });
    await stop();
    const older = new OwnProcess(database.pool);
    await older.beat();
    expect(await rotate(after, before)).toMatchObject({ code: 1, err: line, out: '' });
    await older.end();
    expect(await openedBy(new SecretBox(after))).toEqual([]);
  });

  test('says that something is opened by neither key', async () => {
    await stop();
    const { code, json } = await rotate(after, randomBytes(32));
    expect({ code, done: json.done }).toEqual({ code: 1, done: false });
    for (const each of json.tables) expect(each.lost).toBe(each.sealed);
    expect(await openedBy(new SecretBox(before))).toEqual(TABLES);
  });
});

test('every column of bytes is sealed, or known to be no secret', async () => {
  const { rows } = await database.pool.query<{ name: string }>(
    `select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = 'public' and data_type = 'bytea' order by 1`,
  );
  const sealed = SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`);
  const others = rows.map(({ name }) => name).filter((name) => !sealed.includes(name));
  expect(others.filter((name) => !/hash$/.test(name))).toEqual([
    'known_id_pages.page',
    'passkey_challenges.session',
    'passkey_holders.handle',
    ...['passkeys.credential', 'passkeys.public_key'],
    ...['record_chunks.ids', 'record_chunks.names', 'record_chunks.numbers'],
  ]);
});
