/** The document around the body of every page. */
import { type Html, type HtmlValue, html } from './html.ts';

export interface PageDocument {
  readonly title: string;
  /** The style: an inline sheet, or links to sheets. */
  readonly head: HtmlValue;
  readonly body: Html;
  /** The class of the body, to lay the page out. */
  readonly bodyClass?: string;
}

/** The page does not go into search engines, and follows the color scheme of the reader. */
export function renderDocument({ title, head, body, bodyClass }: PageDocument): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
${head}
</head>
<body${bodyClass !== undefined && html` class="${bodyClass}"`}>
${body}
</body>
</html>
`;
  return page.text;
}
