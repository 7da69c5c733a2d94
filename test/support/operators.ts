/** Sessions and forms of the operators' console, for tests. */
import { newSecret } from '../../src/access/sessions/session.ts';
import type { Pool } from '../../src/base/db/pool.ts';
import { type Answer, ask, type TestService } from './service.ts';

/** The name of the cookie over plain HTTP. */
export const OPERATOR_COOKIE = 'boxoffice-operator';

export interface TestOperator {
  readonly name: string;
  /** The cookie of the session. */
  readonly secret: string;
  readonly cookie: string;
}

/** An operator who has just logged in, or `minutesAgo`. */
export async function makeOperator(
  db: Pool,
  { name = 'grace', minutesAgo = 0 }: { name?: string; minutesAgo?: number } = {},
): Promise<TestOperator> {
  const { plaintext: secret, hash } = newSecret();
  await db.query(
    `insert into operator_sessions (hash, operator, created_at)
     values ($1, $2, now() - make_interval(mins => $3))`,
    [hash, name, minutesAgo],
  );
  return { name, secret, cookie: `${OPERATOR_COOKIE}=${secret}` };
}

const addressOf = ({ service }: TestService, path: string) => `http://127.0.0.1:${service.opsPort}${path}`;

/** Ask for a page as a browser does, with a session. */
export function getOpsPage(app: TestService, path: string, cookie = ''): Promise<Answer> {
  return ask(addressOf(app, path), 'GET', { headers: { cookie } });
}

/** Send a form as a browser does. */
export function sendOpsForm(
  app: TestService,
  path: string,
  fields: Readonly<Record<string, string>>,
  { cookie = '', headers = {} }: { cookie?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return ask(addressOf(app, path), 'POST', {
    raw: new URLSearchParams(fields).toString(),
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      origin: new URL(app.config.opsUrl).origin,
      'sec-fetch-site': 'same-origin',
      cookie,
      ...headers,
    },
  });
}
