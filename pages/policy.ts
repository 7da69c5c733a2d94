/** `Content-Security-Policy` of pages. */

export interface Policy {
  /** Sources of styles: `'self'`, or the hash of an inline sheet. */
  readonly style: string;
  /** Whether scripts and requests of this origin are allowed. */
  readonly script?: boolean;
  /** Whether pages of this origin may be shown inside. */
  readonly frames?: boolean;
  /** Where forms may lead, redirects included. None: the page has no forms. */
  readonly forms?: readonly string[];
}

/** Nothing is loaded, run or framed that the policy does not name. */
export function contentSecurityPolicy({ style, script = false, frames = false, forms = [] }: Policy): string {
  return [
    "default-src 'none'",
    `style-src ${style}`,
    ...(style === "'self'" ? ["img-src 'self'"] : []),
    ...(script ? ["script-src 'self'", "connect-src 'self'"] : []),
    ...(frames ? ["frame-src 'self'"] : []),
    `form-action ${forms.length === 0 ? "'none'" : [...new Set(forms)].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
