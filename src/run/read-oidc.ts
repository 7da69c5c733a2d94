/** The settings of log-ins with an issuer of OpenID Connect. */
import type { OidcConfig } from '../access/oidc/oidc-config.ts';
import { ConfigError, type Env, wrong } from './config-error.ts';

/** They need the issuer, and it needs them. */
const REQUIRED = ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'] as const;
const OPTIONAL = ['OIDC_NAME', 'OIDC_OPERATORS_GROUP'] as const;

/** On one line, and short enough for a button. */
const TEXT = /^(?=.{1,60}$)\P{C}+$/u;

const LOOPBACK = /^(127\.0\.0\.1|localhost|\[::1\])$/;

/** `undefined`: there is no log-in with an issuer. Throws `ConfigError`. */
export function readOidc(env: Env): OidcConfig | undefined {
  if (!env.OIDC_ISSUER) {
    const lonely = [...REQUIRED, ...OPTIONAL].find((name) => env[name]);
    if (lonely) throw new ConfigError(`OIDC_ISSUER must be set when ${lonely} is`);
    return undefined;
  }
  const { host } = readIssuer(env.OIDC_ISSUER);
  for (const name of REQUIRED) {
    if (!env[name]) throw new ConfigError(`${name} must be set when OIDC_ISSUER is`);
  }
  for (const name of OPTIONAL) {
    if (env[name] && !TEXT.test(env[name])) throw wrong(name, 'a text of 1 to 60 characters', env[name]);
  }
  return {
    issuer: env.OIDC_ISSUER,
    clientId: env.OIDC_CLIENT_ID!,
    clientSecret: env.OIDC_CLIENT_SECRET!,
    name: env.OIDC_NAME || host,
    operatorsGroup: env.OIDC_OPERATORS_GROUP || undefined,
  };
}

/** Over plain HTTP, anybody on the way could say who a person is. */
function readIssuer(text: string): URL {
  const url = URL.parse(text);
  if (url?.username || url?.password) {
    throw new ConfigError('OIDC_ISSUER may not hold a user name or a password');
  }
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.test(url.hostname));
  if (!url || !isSafe || url.search || url.hash) {
    throw wrong('OIDC_ISSUER', 'an https address, or an http address of this machine', text);
  }
  return url;
}
