/** The cookie of a session. */
import { isSecret, SESSION_DAYS } from '../../access/sessions/session.ts';

/**
 * `__Host-` binds a cookie to one host, its root and TLS. Browsers refuse it without TLS, some also for localhost, so
 * a console over plain HTTP has another name.
 */
export function cookieName(publicUrl: string): string {
  return isSecure(publicUrl) ? '__Host-boxoffice' : 'boxoffice';
}

function isSecure(publicUrl: string): boolean {
  return publicUrl.startsWith('https:');
}

/** `null`: the browser forgets it. `Lax`, so that a link of a mail finds the session. */
export function renderCookie(publicUrl: string, secret: string | null): string {
  const life = secret === null ? 'Max-Age=0' : `Max-Age=${SESSION_DAYS * 86_400}`;
  const secure = isSecure(publicUrl) ? '; Secure' : '';
  return `${cookieName(publicUrl)}=${secret ?? ''}; Path=/; ${life}; HttpOnly; SameSite=Lax${secure}`;
}

/** The secret in a `Cookie` header. `undefined` too if there are two of them. */
export function readCookie(publicUrl: string, header: string | undefined): string | undefined {
  const start = `${cookieName(publicUrl)}=`;
  const found = (header ?? '').split(/; */).filter((each) => each.startsWith(start));
  const secret = found.length === 1 ? found[0]!.slice(start.length) : '';
  return isSecret(secret) ? secret : undefined;
}
