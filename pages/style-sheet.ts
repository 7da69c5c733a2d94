/** A style sheet inside the page that it is for. */
import { hash } from 'node:crypto';
import { Html } from './html.ts';
import { contentSecurityPolicy } from './policy.ts';

export interface InlineSheet {
  readonly element: Html;
  /** The only `Content-Security-Policy` that a page with this sheet, and without scripts, needs. */
  readonly policy: string;
}

/** `hasForm`: the page may send a form to its own site. */
export function inlineSheet(css: string, { hasForm = false } = {}): InlineSheet {
  return {
    element: new Html(`<style>${css}</style>`),
    policy: contentSecurityPolicy({
      style: `'sha256-${hash('sha256', css, 'base64')}'`,
      forms: hasForm ? ["'self'"] : [],
    }),
  };
}
