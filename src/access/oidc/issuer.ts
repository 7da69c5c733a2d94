/**
 * The issuer: where people log in, and what it says of them.
 *
 * Its client is loaded, and the issuer is looked up, by the first log-in. Source: OpenID Connect Core 1.0 and Discovery
 * 1.0, PKCE (RFC 7636), OAuth 2.0 security (RFC 9700).
 */
import type { ClientAuth, Configuration } from 'openid-client';
import type { AttemptTexts } from './login-attempt.ts';
import { LoginFault, type LoginFaultKind } from './login-fault.ts';
import type { OidcConfig } from './oidc-config.ts';

/** What the issuer says of itself is asked for again after this. */
const KNOWN_MS = 3_600_000;
/** The time limit of each request. */
const ANSWER_SECONDS = 5;

type Client = typeof import('openid-client');

interface Known {
  readonly client: Client;
  readonly configuration: Configuration;
  readonly until: number;
}

export interface IssuerRequest {
  readonly redirectUri: string;
  readonly texts: AttemptTexts;
  /** The person must log in again, although the issuer may know the browser. */
  readonly again: boolean;
  /** The address of the person, if it is known. */
  readonly email: string | undefined;
  readonly wantsGroups: boolean;
}

/** What the issuer says of a person. */
export interface Claims {
  readonly email: unknown;
  readonly isVerified: boolean;
  readonly groups: unknown;
  /** When the person last logged in there, in seconds since 1970. */
  readonly authTime: number | undefined;
}

export class Issuer {
  readonly name: string;
  readonly operatorsGroup: string | undefined;
  readonly #config: OidcConfig;
  readonly #answerSeconds: number;
  #known: Promise<Known> | undefined;

  constructor(config: OidcConfig, answerSeconds = ANSWER_SECONDS) {
    this.#config = config;
    this.#answerSeconds = answerSeconds;
    this.name = config.name;
    this.operatorsGroup = config.operatorsGroup;
  }

  /** The address of the page where the person logs in. Fails with a `LoginFault`: `unavailable`. */
  async authorizationUrl({ redirectUri, texts, again, email, wantsGroups }: IssuerRequest): Promise<string> {
    const { client, configuration } = await this.#find();
    const offersGroups = configuration.serverMetadata().scopes_supported?.includes('groups') ?? false;
    const parameters = {
      redirect_uri: redirectUri,
      scope: wantsGroups && offersGroups ? 'openid email groups' : 'openid email',
      state: texts.state,
      nonce: texts.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(texts.verifier),
      code_challenge_method: 'S256',
      ...(again && { prompt: 'login', max_age: '0' }),
      ...(email !== undefined && { login_hint: email }),
    };
    try {
      return client.buildAuthorizationUrl(configuration, parameters).href;
    } catch (error) {
      throw new LoginFault('unavailable', { reason: reasonOf(error) });
    }
  }

  /**
   * What the issuer says of the person who came back to `callback`, with its query. The issuer, audience, end, nonce and
   * signature of its answer are checked. Fails with a `LoginFault`: `unavailable`, `declined` or `invalid`.
   */
  async redeem(
    callback: URL,
    { state, nonce, verifier }: AttemptTexts,
    wantsGroups: boolean,
  ): Promise<Claims> {
    const { client, configuration } = await this.#find();
    try {
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier };
      const tokens = await client.authorizationCodeGrant(configuration, callback, checks);
      const claims = tokens.claims()!;
      const isWhole = claims.email_verified !== undefined && (!wantsGroups || claims.groups !== undefined);
      // Some issuers tell only who the person is, and the rest when they are asked.
      const asks = !isWhole && configuration.serverMetadata().userinfo_endpoint !== undefined;
      const info = asks ? await client.fetchUserInfo(configuration, tokens.access_token, claims.sub) : claims;
      // Both from one answer: the one address may be verified, and the other not.
      const { email, email_verified } = claims.email_verified === undefined ? info : claims;
      return {
        email,
        isVerified: email_verified === true,
        groups: claims.groups ?? info.groups,
        authTime: claims.auth_time,
      };
    } catch (error) {
      throw new LoginFault(kindOf(error, client), { reason: reasonOf(error) });
    }
  }

  /** Several log-ins ask once. What fails is asked for again by the next one. */
  async #find(): Promise<Known> {
    const before = this.#known;
    if (before && (await before).until > performance.now()) return before;
    // Meanwhile another log-in may have asked.
    if (this.#known === before) {
      const asked = this.#discover();
      this.#known = asked;
      asked.catch(() => {
        if (this.#known === asked) this.#known = undefined;
      });
    }
    return this.#known!;
  }

  async #discover(): Promise<Known> {
    const { issuer, clientId, clientSecret } = this.#config;
    const client = await import('openid-client');
    const isPlain = issuer.startsWith('http:');
    try {
      const configuration = await client.discovery(
        new URL(issuer),
        clientId,
        undefined,
        authenticateWith(client, clientSecret),
        {
          timeout: this.#answerSeconds,
          execute: [client.enableNonRepudiationChecks, ...(isPlain ? [client.allowInsecureRequests] : [])],
        },
      );
      return { client, configuration, until: performance.now() + KNOWN_MS };
    } catch (error) {
      throw new LoginFault('unavailable', { reason: reasonOf(error) });
    }
  }
}

/** In the header, as every issuer should understand, unless this one says that it does not. */
function authenticateWith(client: Client, secret: string): ClientAuth {
  const [basic, post] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported;
    const takesBasic = methods === undefined || methods.includes('client_secret_basic');
    return (takesBasic ? basic : post)(server, ...rest);
  };
}

/** Errors of an issuer that is down, slow, or something else than an issuer. */
const NO_ANSWER = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_PARSE_ERROR',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
]);

function kindOf(error: unknown, client: Client): LoginFaultKind {
  if (error instanceof client.AuthorizationResponseError) return 'declined';
  const isNetwork = error instanceof TypeError && error.cause !== undefined;
  return isNetwork || NO_ANSWER.has(codeOf(error)) ? 'unavailable' : 'invalid';
}

function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** Never the causes: they hold tokens, and what the issuer says of people. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { error: said } = error as { readonly error?: unknown };
  const network = error instanceof TypeError ? codeOf(error.cause ?? {}) : '';
  const words = [error.message, codeOf(error), typeof said === 'string' ? said : '', network];
  return words
    .filter((word) => word !== '')
    .join(', ')
    .slice(0, 300);
}
