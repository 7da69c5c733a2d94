/** HTML that escapes what is put into it. */

/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** `undefined`, `null` and `false` are put in as nothing. */
export type HtmlValue = Html | string | number | bigint | undefined | null | false | readonly HtmlValue[];

/** A tag for templates: HTML is put in as it is, and anything else is escaped. */
export function html(texts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const parts = texts.map((text, at) => (at === 0 ? text : `${render(values[at - 1])}${text}`));
  return new Html(parts.join(''));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function render(value: HtmlValue): string {
  if (value === undefined || value === null || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(render).join('');
  return String(value).replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}
