/** An issuer of OpenID Connect on a real socket, whose answers a test can spoil. */
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import type { OidcConfig } from '../../src/access/oidc/oidc-config.ts';

/** What the issuer says of a person. */
export type TestClaims = Readonly<Record<string, unknown>>;

/** How the next ID tokens differ from those of an honest issuer. */
export interface Spoiled {
  readonly claims?: TestClaims;
  /** `wrong`: a key that the issuer does not publish; `none`: no signature; `secret`: with the secret of the client. */
  readonly key?: 'wrong' | 'none' | 'secret';
  /** Claims are told by the endpoint for them, and not in the token. */
  readonly onlyInfo?: boolean;
  /** The subject of that endpoint. */
  readonly infoSubject?: string;
}

/** `slow`: it takes the connection, and never answers. */
export type IssuerMood = 'well' | 'down' | 'slow' | 'garbage' | 'foreign' | 'empty';

interface Grant {
  readonly query: URLSearchParams;
  readonly claims: TestClaims;
}

const CLIENT_ID = 'boxoffice';
export const CLIENT_SECRET = 'secret-of-the-client-Zq81';

export interface TestIssuer {
  readonly url: string;
  readonly config: OidcConfig;
  mood: IssuerMood;
  /** The addresses of the endpoints of tokens and keys only. */
  tokenMood: IssuerMood;
  spoiled: Spoiled;
  /** The method of the authentication at the token endpoint. */
  readonly methods: string[];
  /** The claims of the person who logs in at its page. */
  readonly groups: string[];
  /** Every secret that was handed out or received. */
  readonly secrets: string[];
  /** The paths of the requests so far. */
  readonly asked: string[];
  /** Log a person in, as the page would. Returns the address that the browser is sent back to. */
  logIn(authorizationUrl: string, claims: TestClaims): URL;
  /** Refuse the person. */
  refuse(authorizationUrl: string, error?: string): URL;
  close(): Promise<void>;
}

/** An address that the issuer verified. */
export function verified(email: string, more: TestClaims = {}): TestClaims {
  return { email, email_verified: true, auth_time: Math.floor(Date.now() / 1000), ...more };
}

export async function startIssuer(config: Partial<OidcConfig> = {}): Promise<TestIssuer> {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  const { privateKey: wrongKey } = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'key-1', alg: 'RS256', use: 'sig' };
  const grants = new Map<string, Grant>();
  const infos = new Map<string, TestClaims>();
  const secrets: string[] = [CLIENT_SECRET];
  const asked: string[] = [];
  const methods: string[] = [];
  const groups: string[] = [];

  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => send(response, 500, { error: String(error) }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, url);
    asked.push(pathname);
    const isToken = pathname === '/token' || pathname === '/keys' || pathname === '/info';
    const mood = isToken ? issuer.tokenMood : issuer.mood;
    if (mood === 'slow') return;
    if (mood === 'down') return void request.socket.destroy();
    if (mood === 'garbage') return void response.writeHead(200).end('<h1>It works!</h1>');
    if (mood === 'empty') return send(response, 200, {});
    switch (pathname) {
      case '/.well-known/openid-configuration':
        return send(response, 200, metadata(mood === 'foreign' ? 'https://other.example' : url));
      case '/keys':
        return send(response, 200, { keys: [jwk] });
      case '/authorize':
        return consent(searchParams, response);
      case '/consent':
        return decide(new URLSearchParams(await read(request)), response);
      case '/token':
        return redeem(request, new URLSearchParams(await read(request)), response);
      case '/info': {
        const claims = infos.get(request.headers.authorization?.replace('Bearer ', '') ?? '');
        return claims ? send(response, 200, claims) : send(response, 401, { error: 'invalid_token' });
      }
      default:
        return send(response, 404, {});
    }
  }

  function metadata(issuer: string) {
    return {
      issuer,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      jwks_uri: `${url}/keys`,
      userinfo_endpoint: `${url}/info`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
      scopes_supported: ['openid', 'email', 'groups'],
      ...(methods.length > 0 && { token_endpoint_auth_methods_supported: methods }),
    };
  }

  /** A tiny page that asks who the person is. */
  function consent(query: URLSearchParams, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(`<!doctype html><html lang="en"><title>Example ID</title><link rel="icon" href="data:,"><h1>Log in to Example ID</h1>
<form method="post" action="/consent"><input type="hidden" name="query" value="${query.toString().replaceAll('&', '&amp;')}">
<label for="email">Address</label><input id="email" name="email" value="${query.get('login_hint') ?? ''}">
<button>Allow</button></form></html>`);
  }

  function decide(form: URLSearchParams, response: ServerResponse): void {
    const at = issuer.logIn(
      `${url}/authorize?${form.get('query')}`,
      verified(form.get('email')!, { groups }),
    );
    response.writeHead(302, { location: at.href }).end();
  }

  /** The authorization request, which must be as the standard wants it. */
  function checkRequest(authorizationUrl: string): { query: URLSearchParams; back: URL } {
    const { origin, pathname, searchParams: query } = new URL(authorizationUrl);
    const right =
      `${origin}${pathname}` === `${url}/authorize` &&
      query.get('response_type') === 'code' &&
      query.get('client_id') === CLIENT_ID &&
      query.get('code_challenge_method') === 'S256' &&
      /^[\w-]{43}$/.test(query.get('code_challenge') ?? '') &&
      (query.get('scope') ?? '').startsWith('openid email');
    if (!right) throw new Error(`not an authorization request: ${authorizationUrl}`);
    const back = new URL(query.get('redirect_uri')!);
    back.searchParams.set('state', query.get('state')!);
    return { query, back };
  }

  async function redeem(request: IncomingMessage, form: URLSearchParams, response: ServerResponse) {
    const grant = grants.get(form.get('code') ?? '');
    grants.delete(form.get('code') ?? '');
    const onlyPost = methods.length > 0 && !methods.includes('client_secret_basic');
    const isClient = onlyPost ? form.get('client_secret') === CLIENT_SECRET : isBasic(request);
    if (!isClient) return send(response, 401, { error: 'invalid_client' });
    const verifier = form.get('code_verifier') ?? '';
    secrets.push(verifier);
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const isRight =
      grant?.query.get('code_challenge') === challenge &&
      grant.query.get('redirect_uri') === form.get('redirect_uri');
    if (!isRight) return send(response, 400, { error: 'invalid_grant' });
    const accessToken = randomUUID();
    const { claims = {}, onlyInfo = false, infoSubject = 'person-1' } = issuer.spoiled;
    infos.set(accessToken, { sub: infoSubject, ...grant.claims });
    const idToken = await sign({
      sub: 'person-1',
      iss: url,
      aud: CLIENT_ID,
      nonce: grant.query.get('nonce')!,
      iat: Math.floor(Date.now() / 1000),
      exp: Math.floor(Date.now() / 1000) + 300,
      ...(onlyInfo ? {} : grant.claims),
      ...claims,
    });
    secrets.push(accessToken, idToken);
    send(response, 200, { access_token: accessToken, token_type: 'Bearer', id_token: idToken });
  }

  function isBasic(request: IncomingMessage): boolean {
    const [, text = ''] = (request.headers.authorization ?? '').split(' ');
    const [id = '', secret = ''] = Buffer.from(text, 'base64').toString().split(':').map(decodeURIComponent);
    return id === CLIENT_ID && secret === CLIENT_SECRET;
  }

  async function sign(claims: JWTPayload): Promise<string> {
    const { key } = issuer.spoiled;
    if (key === 'none') {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      return `${part({ alg: 'none' })}.${part(claims)}.`;
    }
    const alg = key === 'secret' ? 'HS256' : 'RS256';
    const signed = new SignJWT(claims).setProtectedHeader({ alg, kid: 'key-1' });
    if (key === 'secret') return signed.sign(Buffer.from(CLIENT_SECRET));
    return signed.sign(key === 'wrong' ? wrongKey : privateKey);
  }

  const issuer: TestIssuer = {
    url,
    config: {
      issuer: url,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      name: 'Example ID',
      operatorsGroup: undefined,
      ...config,
    },
    mood: 'well',
    tokenMood: 'well',
    spoiled: {},
    methods,
    groups,
    secrets,
    asked,
    logIn: (authorizationUrl, claims) => {
      const { query, back } = checkRequest(authorizationUrl);
      const code = randomUUID();
      secrets.push(code, query.get('state')!, query.get('nonce')!);
      grants.set(code, { query, claims });
      back.searchParams.set('code', code);
      return back;
    },
    refuse: (authorizationUrl, error = 'access_denied') => {
      const { back } = checkRequest(authorizationUrl);
      back.searchParams.set('error', error);
      return back;
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return issuer;
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function read(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
