import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { Html, html, styleSheet } from '../../../src/base/lib/html.ts';

describe('html', () => {
  test('escapes what is put in, in texts and in attributes', () => {
    const name = `<b a='1' b="2">&amp;`;
    expect(html`<p title="${name}">${name}</p>`.text).toBe(
      '<p title="&#60;b a=&#39;1&#39; b=&#34;2&#34;&#62;&#38;amp;">&#60;b a=&#39;1&#39; b=&#34;2&#34;&#62;&#38;amp;</p>',
    );
  });

  test('puts in HTML and lists of it as they are, and nothing for undefined and false', () => {
    const items = ['a', '<'].map((each) => html`<li>${each}</li>`);
    expect(html`<ul>${items}</ul>${undefined}${false}${new Html('<br>')}${0}${12n}`.text).toBe(
      '<ul><li>a</li><li>&#60;</li></ul><br>012',
    );
  });
});

describe('a style sheet', () => {
  test('is the only one that its policy allows', () => {
    const { element, policy } = styleSheet('p { color: red; }');
    expect(element.text).toBe('<style>p { color: red; }</style>');
    expect(policy).toBe(
      `default-src 'none'; style-src 'sha256-${hash('sha256', 'p { color: red; }', 'base64')}'; ` +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
  });
});
