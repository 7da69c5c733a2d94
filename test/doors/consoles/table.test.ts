import { html } from '@boxoffice/pages/html';
import { expect, test } from 'vitest';
import { facts, table } from '../../../src/doors/consoles/table.ts';

test('a table has a label, headings and rows; numbers stand to the right, and a cell names its row', () => {
  const { text } = table('Rooms', ['Room', 'People'], [[html`<b>lobby</b>`, 2]], {
    numbers: ['People'],
    names: 'Room',
  });
  expect(text).toContain('aria-label="Rooms"');
  expect(text).toContain('<caption class="hidden">Rooms</caption>');
  expect(text).toContain('<tr><th scope="col">Room</th><th scope="col" class="number">People</th></tr>');
  expect(text).toContain(
    '<tr><th scope="row" data-label="Room"><b>lobby</b></th><td class="number" data-label="People">2</td></tr>',
  );
});

test('a column without a heading is left out, with its cells', () => {
  const { text } = table('Rooms', ['Room', false, 'Since'], [['lobby', 'secret', 'today']]);
  expect(text).not.toContain('secret');
  expect(text.match(/<td/g)).toHaveLength(2);
  expect(text).toContain('<td data-label="Since">today</td>');
});

test('without rows, a line says so', () => {
  expect(table('Rooms', ['Room'], []).text).toBe('<p class="hint">Rooms: none.</p>');
});

test('a fact that is nothing is a dash', () => {
  expect(facts('The room', { Name: 'lobby', Ended: null }).text).toMatch(
    /<th scope="row">Name<\/th><td>lobby<.*<th scope="row">Ended<\/th><td>–</,
  );
});
