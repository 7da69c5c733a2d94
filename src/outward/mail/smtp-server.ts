/** The mail server that takes our mails, as SMTP_URL names it. */

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte. Otherwise STARTTLS, wherever the server offers it. */
  readonly secure: boolean;
  /** Never in a log. */
  readonly auth: { readonly user: string; readonly pass: string } | undefined;
}

/** RFC 6409 and RFC 8314. */
const SUBMISSION_PORT = 587;
const SUBMISSIONS_PORT = 465;

/** `smtp://user:password@host:587` or `smtps://...`; `undefined` for anything else. */
export function parseSmtpUrl(text: string): SmtpServer | undefined {
  const url = URL.parse(text);
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '') return undefined;
  if (url.search || url.hash || !['', '/'].includes(url.pathname)) return undefined;
  const secure = url.protocol === 'smtps:';
  try {
    const [user, pass] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
    // One without the other would be sent without logging in.
    if ((user === '') !== (pass === '')) return undefined;
    return {
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port === '' ? (secure ? SUBMISSIONS_PORT : SUBMISSION_PORT) : Number(url.port),
      secure,
      auth: user === '' ? undefined : { user, pass },
    };
  } catch {
    return undefined;
  }
}

/** A password goes to another machine only through TLS. */
export function requiresTls({ secure, auth, host }: SmtpServer): boolean {
  return !secure && auth !== undefined && !/^(localhost|127\..*|::1)$/.test(host);
}
