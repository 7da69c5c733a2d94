/** HTML that escapes whatever is put into it. */

/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Piece = Html | string | number | null | readonly Piece[];

/** A template tag: pieces of HTML go in as they are, all else is escaped, null is nothing. */
export function html(strings: TemplateStringsArray, ...pieces: Piece[]): Html {
  return new Html(strings.reduce((text, part, index) => text + render(pieces[index - 1] ?? null) + part));
}

function render(piece: Piece): string {
  if (piece === null) return '';
  if (piece instanceof Html) return piece.text;
  if (typeof piece === 'object') return piece.map(render).join('');
  return escapeHtml(String(piece));
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
