import { beforeAll, describe, expect, test } from 'vitest';
import { operator } from '../../../src/run/admin/operator.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { runAdmin } from './support.ts';

const app = useService({ payments: false });
let tenant: TestTenant;
let other: TestTenant;
const admin = (...args: string[]) => runAdmin({ DATABASE_URL: app.ownerUrl }, ...args);
const audit = (...args: string[]) => admin('audit', ...args);
// biome-ignore lint/suspicious/noExplicitAny: JSON of a command
const actionsOf = ({ json }: { json: any }): string[] => json.map(({ action }: { action: string }) => action);

beforeAll(async () => {
  tenant = await app.signUp();
  other = await app.signUp();
  for (const { id } of [tenant, other]) await admin('tenants', 'exempt', id);
});

describe('admin audit', () => {
  test('lists all tenants and the whole service, newest first', async () => {
    const { code, json } = await audit('--json');
    expect(code).toBe(0);
    const byOperator = { kind: 'operator', id: operator().id, address: null };
    expect(json.slice(0, 2)).toStrictEqual(
      [other, tenant].map(({ id }) => ({
        id: expect.stringMatching(/^au_/),
        tenant: id,
        at: expect.any(String),
        actor: byOperator,
        action: 'tenant_exemption_changed',
        subject: id,
        before: { exempt: false },
        after: { exempt: true },
      })),
    );
    expect(json).toContainEqual(
      expect.objectContaining({
        tenant: null,
        actor: { kind: 'system', id: 'rates_file', address: null },
        action: 'rates_loaded',
        subject: '1',
        before: null,
      }),
    );
  });

  test('filters', async () => {
    const ofTenant = await audit('--tenant', tenant.id, '--json');
    expect(ofTenant.json.every((each: { tenant: string }) => each.tenant === tenant.id)).toBe(true);
    expect(actionsOf(await audit('--action', 'rates_loaded', '--json'))).toEqual(['rates_loaded']);
    expect(actionsOf(await audit('--subject', other.id, '--json'))).toContain('tenant_exemption_changed');
    expect(actionsOf(await audit('--limit', '1', '--json'))).toEqual(['tenant_exemption_changed']);
    expect((await audit('--since', '2999-01-01', '--json')).json).toEqual([]);
    expect((await audit('--since', '2020-01-01', '--json')).json.length).toBeGreaterThan(2);
  });

  test('prints a table', async () => {
    const { out } = await audit('--tenant', tenant.id, '--limit', '1');
    expect(out).toMatch(/^AT +TENANT +ACTOR +ADDRESS +ACTION +SUBJECT +BEFORE -> AFTER\n/);
    expect(out).toContain(`operator ${operator().id}`);
    expect(out).toContain('{"exempt":false} -> {"exempt":true}');
    expect((await audit('--since', '2999-01-01')).out).toBe('no entries\n');
  });

  test.each([
    ['--tenant', 'x'],
    ['--action', 'Key'],
    ['--since', 'yesterday'],
    ['--limit', '0'],
  ])('does not understand %s %s', async (...args) => {
    expect(await audit(...args)).toMatchObject({ code: 2, out: '' });
  });
});

describe('the operator', () => {
  test('has the name of the login, and of whoever uses sudo', async () => {
    const env = { DATABASE_URL: app.ownerUrl, SUDO_USER: 'ann' };
    await runAdmin(env, 'tenants', 'exempt', tenant.id, '--off');
    const { json } = await audit('--limit', '1', '--json');
    expect(json[0].actor.id).toBe(`ann as ${operator().id}`);
  });
});
