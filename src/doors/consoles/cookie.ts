/** The cookies of a session, and of a log-in that goes on elsewhere. */
import { ATTEMPT_MINUTES } from '../../access/oidc/login-attempt.ts';
import { isSecret, SESSION_DAYS } from '../../access/sessions/session.ts';

/**
 * `__Host-` binds a cookie to one host, its root and TLS. Browsers refuse it without TLS, some also for localhost, so
 * a console over plain HTTP has another name. Ports of one host share cookies, so the console of operators has a `name`
 * of its own.
 */
export function cookieName(publicUrl: string, name = 'boxoffice'): string {
  return isSecure(publicUrl) ? `__Host-${name}` : name;
}

export function isSecure(publicUrl: string): boolean {
  return publicUrl.startsWith('https:');
}

/** `null`: the browser forgets it. `Lax`, so that a link of a mail finds the session. */
export function renderCookie(
  publicUrl: string,
  secret: string | null,
  name?: string,
  seconds = SESSION_DAYS * 86_400,
): string {
  const life = `Max-Age=${secret === null ? 0 : seconds}`;
  const secure = isSecure(publicUrl) ? '; Secure' : '';
  return `${cookieName(publicUrl, name)}=${secret ?? ''}; Path=/; ${life}; HttpOnly; SameSite=Lax${secure}`;
}

/** The secret in a `Cookie` header. `undefined` too if there are two of them. */
export function readCookie(publicUrl: string, header: string | undefined, name?: string): string | undefined {
  const start = `${cookieName(publicUrl, name)}=`;
  const found = (header ?? '').split(/; */).filter((each) => each.startsWith(start));
  const secret = found.length === 1 ? found[0]!.slice(start.length) : '';
  return isSecret(secret) ? secret : undefined;
}

/** The cookie of a log-in that goes on at the issuer. `Lax`, so that the way back from there finds it. */
export function renderLoginCookie(publicUrl: string, secret: string | null, name: string): string {
  return renderCookie(publicUrl, secret, name, ATTEMPT_MINUTES * 60);
}
