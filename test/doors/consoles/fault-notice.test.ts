import { html } from '@boxoffice/pages/html';
import { expect, test } from 'vitest';
import { field } from '../../../src/doors/consoles/components.ts';
import { faultLine, faultNotice } from '../../../src/doors/consoles/fault-notice.ts';

test('a page without faults has no notice', () => {
  expect(faultNotice(field({ name: 'email', label: 'E-mail' }))).toBeUndefined();
});

test('each fault links to its field, by the label of the field', () => {
  const faults = { dollars: 'Must be more than <b>0</b>.\nOr nothing.', confirm: 'Type it again.' };
  const { text } = faultNotice(html`${field({ name: 'dollars', label: 'Below', faults })}
${field({ id: 'other', name: 'confirm', label: html`Type <code>END</code>`, faults })}
${faultLine('tracks', 'Choose one.')}`)!;
  expect(text).toContain('role="alert" tabindex="-1" autofocus');
  expect(text.match(/<li>.*?<\/li>/gs)).toEqual([
    '<li><a href="#dollars">Below: Must be more than &lt;b&gt;0&lt;/b&gt;.\nOr nothing.</a></li>',
    '<li><a href="#other">Type <code>END</code>: Type it again.</a></li>',
    '<li><a href="#tracks">Choose one.</a></li>',
  ]);
});
