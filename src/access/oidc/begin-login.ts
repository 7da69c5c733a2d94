/** Begin a log-in at the issuer. */
import type { Db } from '../../base/db/pool.ts';
import type { BaseDeps } from '../../base/deps.ts';
import { newSecret } from '../sessions/session.ts';
import type { Issuer } from './issuer.ts';
import { type NewAttempt, textsOf } from './login-attempt.ts';
import { insertAttempt } from './login-attempts.sql.ts';
import { LoginFault } from './login-fault.ts';
import { CALLBACK_PATH } from './oidc-config.ts';

export interface IssuerDeps extends BaseDeps {
  /** `undefined`: none is configured. */
  readonly issuer: Issuer | undefined;
}

export interface BegunLogin {
  /** Where the person logs in. */
  readonly url: string;
  /** For a cookie of the browser. Only with it the log-in can be finished. */
  readonly secret: string;
}

/** `consoleUrl`: where the console is, without a trailing slash. Fails with a `LoginFault`: `unavailable`. */
export async function beginLogin(
  { db, log }: { readonly db: Db } & Pick<BaseDeps, 'log'>,
  issuer: Issuer,
  consoleUrl: string,
  attempt: NewAttempt,
): Promise<BegunLogin> {
  const { plaintext: secret, hash } = newSecret();
  const again = attempt.email !== undefined;
  try {
    const url = await issuer.authorizationUrl({
      redirectUri: `${consoleUrl}${CALLBACK_PATH}`,
      texts: textsOf(secret),
      again,
      email: attempt.email,
      wantsGroups: attempt.console === 'operators',
    });
    await insertAttempt(db, hash, attempt);
    return { url, secret };
  } catch (error) {
    if (error instanceof LoginFault) log.warn({ reason: error.message }, 'the issuer cannot be used');
    throw error;
  }
}
