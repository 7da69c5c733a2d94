import { html } from '@boxoffice/pages/html';
import { expect, test } from 'vitest';
import { checkbox, field, select } from '../../../src/doors/consoles/components.ts';
import { faultLine, tellFaults } from '../../../src/doors/consoles/fault-notice.ts';

test('a page without faults stays as it is', () => {
  const body = field({ name: 'email', label: 'E-mail' });
  expect(tellFaults(body)).toBe(body);
});

test('each fault links to its field, by the label of the field', () => {
  const faults = { dollars: 'Must be more than <b>0</b>.\nOr nothing.', confirm: 'Type it again.' };
  const { text } = tellFaults(html`${field({ name: 'dollars', label: 'Below', faults })}
${field({ id: 'other', name: 'confirm', label: html`Type <code>END</code>`, faults })}
${faultLine('tracks', 'Choose one.')}`);
  expect(text.match(/<li>.*?<\/li>/gs)).toEqual([
    '<li><a href="#dollars">Below: Must be more than &lt;b&gt;0&lt;/b&gt;.\nOr nothing.</a></li>',
    '<li><a href="#other">Type <code>END</code>: Type it again.</a></li>',
    '<li><a href="#tracks">Choose one.</a></li>',
  ]);
});

test('the focus goes to the first wrong field, and to the notice where no field can have it', () => {
  const faults = { second: 'Must be a day.', third: 'Must be a day.' };
  const fields = ['first', 'second', 'third'].map((name) => field({ name, label: name, faults }));
  const { text } = tellFaults(html`${fields}`);
  expect(text.match(/<[^>]* autofocus[^>]*>/g)).toEqual([expect.stringContaining('<input id="second"')]);
  const { text: bare } = tellFaults(faultLine('tracks', 'Choose one.'));
  expect(bare.match(/<[^>]* autofocus[^>]*>/g)).toEqual([
    '<div class="alert" role="alert" tabindex="-1" autofocus>',
  ]);
});

test('a choice and a box that are wrong can have the focus too', () => {
  const faults = { kind: 'Must be one of a, b.' };
  const { text } = tellFaults(select('kind', 'Kind', [], 'c', faults));
  expect(text).toContain('aria-describedby="kind-fault" aria-invalid="true" autofocus');
  const box = html`${faultLine('negative', 'Tick it.')}${checkbox('negative', 'Below 0', false, 'Owed.', true)}`;
  expect(tellFaults(box).text).toMatch(/<input type="checkbox" id="negative"[^>]* autofocus>/);
});
