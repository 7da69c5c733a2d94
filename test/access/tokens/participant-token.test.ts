import { describe, expect, test } from 'vitest';
import { joinCapabilities } from '../../../src/access/rights/capabilities.ts';
import { TOKEN_SECONDS_DEFAULT, TOKEN_SECONDS_MAX } from '../../../src/access/rights/token-lifetime.ts';
import { claimsOf } from '../../../src/access/tokens/participant-token.ts';
import { newTenantId, renderTenantId } from '../../../src/base/tenants/tenant.ts';

const grant = {
  issuedAt: 1_800_000_000,
  lifetimeSeconds: 600,
  tenant: newTenantId(),
  username: 'ann',
  thumbprint: 'T'.repeat(43),
  room: 'lobby',
  roomUid: 'rm_1',
  role: 'audience' as const,
  rank: 20,
  capabilities: joinCapabilities(['audio']),
  epoch: 3,
  keyId: '0123456789abcdef',
  rangeSalt: '5'.repeat(32),
  policy: { e2eeRequired: false, muteOnEntry: false },
};

describe('claimsOf', () => {
  test.each([
    ['https://api.example.com', 'relay:api.example.com'],
    ['https://api.example.com/base', 'relay:api.example.com'],
    ['http://127.0.0.1:8080', 'relay:127.0.0.1:8080'],
    ['http://[::1]:8080', 'relay:[::1]:8080'],
  ])('of %s have the audience %s', (publicUrl, aud) => {
    expect(claimsOf(grant, publicUrl)).toMatchObject({ iss: publicUrl, aud });
  });

  test('contain the grant, and a lifetime in seconds', () => {
    expect(claimsOf(grant, 'https://api.example.com')).toMatchObject({
      sub: 'ann',
      tid: renderTenantId(grant.tenant),
      iat: 1_800_000_000,
      nbf: 1_800_000_000,
      exp: 1_800_000_600,
      cnf: { jkt: grant.thumbprint },
      rid: 'rm_1',
      salt: grant.rangeSalt,
    });
  });

  test.each([
    [{}, undefined],
    [{ e2eeRequired: true }, { e2ee_required: true }],
    [{ muteOnEntry: true }, { mute_on_entry: true }],
  ])('name the rules that relays keep, if they are set: %j', (rules, policy) => {
    const given = { ...grant, policy: { ...grant.policy, ...rules } };
    expect(claimsOf(given, 'https://api.example.com').policy).toStrictEqual(policy);
  });

  test('have an id of 128 bits each', () => {
    const ids = new Set(Array.from({ length: 1000 }, () => claimsOf(grant, 'https://x').jti));
    expect(ids.size).toBe(1000);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
  });
});

test('a token lives ten minutes by default, and at most fifteen', () => {
  expect([TOKEN_SECONDS_DEFAULT, TOKEN_SECONDS_MAX]).toStrictEqual([600, 900]);
});
