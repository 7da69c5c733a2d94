import { describe, expect, it } from 'vitest';
import { hideSecrets, makeLog } from '../../../src/base/telemetry/log.ts';
import { startService } from '../../../src/run/service.ts';
import { bareConfig } from '../../support/bare-config.ts';
import { useDatabase } from '../../support/database.ts';
import { SECRET_KEY } from '../../support/service.ts';
import { makeTraffic, type Traffic, useLoggedService } from './support.ts';

const SECRET = `svc_0123456789abcdef_${'s'.repeat(43)}`;

function logged(write: (log: ReturnType<typeof makeLog>) => void): string {
  const lines: string[] = [];
  write(makeLog('trace', { write: (line) => void lines.push(line) }));
  return lines.join('');
}

describe('makeLog', () => {
  const database = useDatabase();

  it('writes one JSON object per line, with the name of the level and the time', () => {
    const line = logged((log) => log.info({ tenant: 't_1' }, 'hello'));
    expect(line).toMatch(/^[^\n]+\n$/);
    expect(JSON.parse(line)).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.+Z$/),
      tenant: 't_1',
      msg: 'hello',
    });
  });

  it.each([
    'authorization',
    'cookie',
    'stripe-signature',
    'api_key',
    'credential',
    'token',
    'secret',
    'password',
    'checkout_url',
    'portal_url',
  ])('cuts out %s, also inside of objects', (name) => {
    const line = logged((log) =>
      log.info({ [name]: 'canary', a: { [name]: 'canary', b: { [name]: 'canary' } } }),
    );
    expect(JSON.parse(line)).toMatchObject({
      [name]: '[redacted]',
      a: { [name]: '[redacted]', b: { [name]: '[redacted]' } },
    });
  });

  it.each([
    ['a key', SECRET, 'svc_0123456789abcdef_[redacted]'],
    ['a key after a line break', `\n${SECRET}\n`, '\nsvc_0123456789abcdef_[redacted]\n'],
    ['a key of the provider', 'sk_live_abcdefghijkl', 'sk_live_[redacted]'],
    ['a restricted key of the provider', 'rk_test_abcdefghijkl', 'rk_test_[redacted]'],
    ['a webhook secret', 'whsec_abcdefghijkl', 'whsec_[redacted]'],
    [
      'a checkout',
      'https://pay.test/c/pay/cs_test_abcdefghijkl#x',
      'https://pay.test/c/pay/cs_test_[redacted]#x',
    ],
    ['a device credential', `dev_${'0'.repeat(16)}_abcdefghijkl`, `dev_${'0'.repeat(16)}_[redacted]`],
    [
      'the signature of a token',
      'token=eyJhbGciOiJFUzI1NiIsImtpZCI6Ii0ifQ.eyJpc3MiOiIifQ.abcdefghijkl',
      'token=eyJhbGciOiJFUzI1NiIsImtpZCI6Ii0ifQ.eyJpc3MiOiIifQ.[redacted]',
    ],
  ])('cuts %s out of any text', (_what, text, shown) => {
    const line = logged((log) => log.info({ deep: { er: { still: [text] } } }, `it was ${text}`));
    expect(JSON.parse(line)).toMatchObject({ deep: { er: { still: [shown] } }, msg: `it was ${shown}` });
    expect(hideSecrets(text)).toBe(shown);
  });

  it('leaves ids alone', () => {
    const ids = 'req_0123456789abcdef0123456789abcdef t_0123456789abcdef pi_abcdefghijkl 0123456789abcdef';
    expect(hideSecrets(ids)).toBe(ids);
  });

  it('logs the cause of an error, and none of its attachments', () => {
    const cause = Object.assign(new Error('no such row'), {
      code: '23503',
      constraint: 'a_b',
      detail: 'canary',
    });
    const error = Object.assign(new TypeError(`refused ${SECRET}`, { cause }), {
      statusCode: 401,
      requestId: 'req_1',
      headers: { authorization: 'canary' },
      raw: { body: 'canary' },
    });
    const line = logged((log) => log.error({ err: error }, 'failed'));
    expect(line).not.toContain('canary');
    expect(line).not.toContain(SECRET);
    expect(JSON.parse(line).err).toMatchObject({
      type: 'TypeError',
      message: 'refused svc_0123456789abcdef_[redacted]',
      stack: expect.stringContaining('log.test.ts'),
      statusCode: 401,
      providerRequestId: 'req_1',
      cause: { message: 'no such row', code: '23503', constraint: 'a_b' },
    });
  });

  it('does not log the connection that the driver attaches to errors of lost connections', async () => {
    const lines: string[] = [];
    const service = await startService(
      bareConfig(database.url),
      makeLog('warn', { write: (line) => void lines.push(line) }),
    );
    await service.deps.db.query("select 'canary'");
    const lost = () => lines.filter((line) => line.includes('an idle database connection was lost'));
    // Background jobs may be using every connection.
    const terminate = () =>
      database.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`,
      );
    await expect.poll(() => terminate().then(lost)).not.toHaveLength(0);
    await service.stop();
    for (const line of lost()) {
      const { err } = JSON.parse(line);
      expect(Object.keys(err).sort()).toEqual(expect.arrayContaining(['message', 'stack', 'type']));
      expect(Object.keys(err).filter((name) => !['code', 'message', 'stack', 'type'].includes(name))).toEqual(
        [],
      );
      expect(line.length).toBeLessThan(3_000);
    }
  });

  it('accepts a thrown value that is not an error', () => {
    expect(JSON.parse(logged((log) => log.error({ err: `thrown ${SECRET}` }, 'failed'))).err).toBe(
      'thrown svc_0123456789abcdef_[redacted]',
    );
  });

  it('stays fast on long text that nearly matches a key', () => {
    const started = performance.now();
    hideSecrets('a'.repeat(1_000_000));
    hideSecrets('eyJhbGciOiJFUzI1NiIs'.repeat(50_000));
    // One linear pass takes a second; quadratic backtracking takes minutes.
    expect(performance.now() - started).toBeLessThan(30_000);
  });
});

describe('the log of a service at its most verbose level', () => {
  const app = useLoggedService('trace');

  it('contains no secret, and neither do the metrics', async () => {
    const traffic = await makeTraffic(app);
    // Make the database refuse a statement: the error is logged with its cause.
    await app.service.deps.db.query('alter table api_keys rename to other_keys');
    const failed = await app.request('GET', '/v1/billing', { key: traffic.keys[0] });
    await app.service.deps.db.query('alter table other_keys rename to api_keys');
    expect(failed.status).toBe(500);
    await expect.poll(() => app.log.match(/"status":500/g)).toHaveLength(1);

    // Make sure that the log is complete.
    expect(app.log).toContain('"msg":"payment provider error"');
    expect(app.log).toContain('"msg":"internal error"');
    expect(app.log).toContain('"route":"/v1/usage"');
    expect(app.log).toMatch(/"jti":"[0-9a-f]{32}".*"msg":"joined"/);
    const metrics = await app.metrics();
    expect(metrics).toContain('boxoffice_http_requests_total');
    for (const secret of secretsOf(traffic)) {
      expect(app.log).not.toContain(secret);
      expect(metrics).not.toContain(secret);
    }
  });

  function secretsOf({ keys, checkoutUrls, portalUrl, token }: Traffic): string[] {
    const secretParts = keys.map((key) => key.slice(-43));
    const sessions = checkoutUrls.map((url) => /cs_test_\w+/.exec(url)![0]);
    const signature = token.split('.')[2]!;
    return [
      ...[...keys, ...secretParts, ...checkoutUrls, ...sessions],
      ...[portalUrl, SECRET_KEY, app.webhookSecret, token, signature],
    ];
  }
});
