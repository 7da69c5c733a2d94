import { hash } from 'node:crypto';
import { Html, html } from '@boxoffice/pages/html';
import { inlineSheet } from '@boxoffice/pages/style-sheet';
import { describe, expect, test } from 'vitest';

describe('html', () => {
  test('escapes what is put in, in texts and in attributes', () => {
    const name = `<b a='1' b="2">&amp;`;
    expect(html`<p title="${name}">${name}</p>`.text).toBe(
      '<p title="&lt;b a=&#39;1&#39; b=&quot;2&quot;&gt;&amp;amp;">&lt;b a=&#39;1&#39; b=&quot;2&quot;&gt;&amp;amp;</p>',
    );
  });

  test('puts in HTML and lists of it as they are, and nothing for undefined, null and false', () => {
    const items = ['a', '<'].map((each) => html`<li>${each}</li>`);
    expect(html`<ul>${items}</ul>${undefined}${null}${false}${new Html('<br>')}${0}${12n}`.text).toBe(
      '<ul><li>a</li><li>&lt;</li></ul><br>012',
    );
  });
});

describe('a style sheet', () => {
  test('is the only one that its policy allows', () => {
    const { element, policy } = inlineSheet('p { color: red; }');
    expect(element.text).toBe('<style>p { color: red; }</style>');
    expect(policy).toBe(
      `default-src 'none'; style-src 'sha256-${hash('sha256', 'p { color: red; }', 'base64')}'; ` +
        "form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    );
  });
});
