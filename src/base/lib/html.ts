/** HTML that escapes what is put into it. */
import { hash } from 'node:crypto';

/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** `undefined` and `false` are put in as nothing. */
export type HtmlValue = Html | string | number | bigint | undefined | false | readonly HtmlValue[];

/** A tag for templates: HTML is put in as it is, and anything else is escaped. */
export function html(texts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const parts = texts.map((text, at) => (at === 0 ? text : `${render(values[at - 1])}${text}`));
  return new Html(parts.join(''));
}

function render(value: HtmlValue): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(render).join('');
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * A style sheet of ours, with the only `Content-Security-Policy` that it needs: nothing else is loaded or run.
 * `hasForm`: the page may send a form to its own site.
 */
export function styleSheet(
  css: string,
  { hasForm = false } = {},
): { readonly element: Html; readonly policy: string } {
  return {
    element: new Html(`<style>${css}</style>`),
    policy:
      `default-src 'none'; style-src 'sha256-${hash('sha256', css, 'base64')}'; ` +
      `base-uri 'none'; form-action ${hasForm ? "'self'" : "'none'"}; frame-ancestors 'none'`,
  };
}
