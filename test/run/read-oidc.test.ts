import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/run/config.ts';

const ALL = {
  OIDC_ISSUER: 'https://id.example.com/realms/staff',
  OIDC_CLIENT_ID: 'boxoffice',
  OIDC_CLIENT_SECRET: 'hunter2',
};

const refusal = (env: Record<string, string>): string => {
  try {
    readConfig(env);
  } catch (error) {
    return (error as Error).message;
  }
  return '';
};

describe('an issuer', () => {
  test('is none by default, and empty values count as unset', () => {
    expect(readConfig({}).oidc).toBeUndefined();
    const empty = { OIDC_ISSUER: '', OIDC_CLIENT_ID: '', OIDC_NAME: '', OIDC_OPERATORS_GROUP: '' };
    expect(readConfig(empty).oidc).toBeUndefined();
  });

  test('is named by its host, and kept as it is written', () => {
    expect(readConfig(ALL).oidc).toEqual({
      issuer: 'https://id.example.com/realms/staff',
      clientId: 'boxoffice',
      clientSecret: 'hunter2',
      name: 'id.example.com',
      operatorsGroup: undefined,
    });
    expect(readConfig({ ...ALL, OIDC_ISSUER: 'https://id.example.com/' }).oidc?.issuer).toBe(
      'https://id.example.com/',
    );
  });

  test('has a name and a group', () => {
    expect(
      readConfig({ ...ALL, OIDC_NAME: 'Example ID', OIDC_OPERATORS_GROUP: 'boxoffice' }).oidc,
    ).toMatchObject({ name: 'Example ID', operatorsGroup: 'boxoffice' });
  });

  test.each(['http://localhost:9000', 'http://127.0.0.1:9000/x', 'http://[::1]:9000'])(
    'may be on this machine without TLS: %s',
    (OIDC_ISSUER) => {
      expect(readConfig({ ...ALL, OIDC_ISSUER }).oidc?.issuer).toBe(OIDC_ISSUER);
    },
  );
});

describe('refuses, with one line that names the variable', () => {
  const ADDRESS = 'OIDC_ISSUER must be an https address, or an http address of this machine, not';

  test.each([
    [{ OIDC_CLIENT_ID: 'x' }, 'OIDC_ISSUER must be set when OIDC_CLIENT_ID is'],
    [{ OIDC_CLIENT_SECRET: 'x' }, 'OIDC_ISSUER must be set when OIDC_CLIENT_SECRET is'],
    [{ OIDC_NAME: 'x' }, 'OIDC_ISSUER must be set when OIDC_NAME is'],
    [{ OIDC_OPERATORS_GROUP: 'x' }, 'OIDC_ISSUER must be set when OIDC_OPERATORS_GROUP is'],
    [{ ...ALL, OIDC_CLIENT_ID: '' }, 'OIDC_CLIENT_ID must be set when OIDC_ISSUER is'],
    [{ ...ALL, OIDC_CLIENT_SECRET: '' }, 'OIDC_CLIENT_SECRET must be set when OIDC_ISSUER is'],
    ...['id.example.com', 'http://id.example.com', 'ftp://x', 'https://x/?a=b', 'https://x/#a'].map(
      (OIDC_ISSUER): [Record<string, string>, string] => [
        { ...ALL, OIDC_ISSUER },
        `${ADDRESS} "${OIDC_ISSUER}"`,
      ],
    ),
    [{ ...ALL, OIDC_ISSUER: 'https://user:hunter2@x' }, 'OIDC_ISSUER may not hold a user name or a password'],
    [{ ...ALL, OIDC_NAME: 'a\nb' }, 'OIDC_NAME must be a text of 1 to 60 characters, not "a\\nb"'],
    [
      { ...ALL, OIDC_NAME: 'a'.repeat(61) },
      `OIDC_NAME must be a text of 1 to 60 characters, not "${'a'.repeat(61)}"`,
    ],
  ])('%j', (env, message) => {
    expect(refusal(env)).toBe(message);
    expect(message).not.toContain('hunter2');
  });
});
