import { expect, test } from 'vitest';
import {
  type DonePlace,
  readDoneCookie,
  renderDone,
  renderDoneCookie,
} from '../../../src/doors/consoles/done-cookie.ts';

const PLACE: DonePlace = { publicUrl: 'https://console.example', secret: 's'.repeat(43) };

/** As a browser sends it back. */
const sent = (header: string) => header.split(';')[0]!;

test.each(['Invitation sent to frank@example.com.', 'The ban of Zoë 🎥; "x", is lifted.', 'a.b.c'])(
  'what a form did is read back: %s',
  (text) => {
    const header = renderDoneCookie(PLACE, { text });
    expect(header).toMatch(
      /^__Host-boxoffice-done=[\w-]{43}\.[^;]+; Path=\/; Max-Age=60; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect(readDoneCookie(PLACE, `__Host-boxoffice=secret; ${sent(header)}`)).toEqual({ text });
  },
);

test('another session, and the other console, do not tell it', () => {
  const header = sent(renderDoneCookie(PLACE, { text: 'Done.' }));
  expect(readDoneCookie({ ...PLACE, secret: 't'.repeat(43) }, header)).toBeUndefined();
  const operators = { ...PLACE, publicUrl: 'http://127.0.0.1:8083', console: 'boxoffice-operator' };
  const other = sent(renderDoneCookie(operators, { text: 'Done.' }));
  expect(readDoneCookie(operators, other)).toEqual({ text: 'Done.' });
  expect(readDoneCookie({ ...PLACE, publicUrl: 'http://127.0.0.1:8080' }, other)).toBeUndefined();
});

test('what was told is gone', () => {
  const header = renderDoneCookie(PLACE, null);
  expect(header).toContain('Max-Age=0');
  expect(readDoneCookie(PLACE, sent(header))).toBeUndefined();
});

test.each(['__Host-boxoffice-done=x.Done.', '__Host-boxoffice-done=%E0%A4%A', '__Host-boxoffice-done=', ''])(
  'a cookie that is none of ours is no text: %s',
  (header) => {
    expect(readDoneCookie(PLACE, header)).toBeUndefined();
  },
);

test('a long text is cut, and none is markup', () => {
  const long = sent(renderDoneCookie(PLACE, { text: '🎥'.repeat(300) }));
  expect(readDoneCookie(PLACE, long)).toEqual({ text: '🎥'.repeat(200) });
  expect(renderDone({ text: '<b>' }).text).toContain('&lt;b&gt;');
});

test('what takes it back comes along, and makes no cookie that a browser drops', () => {
  const told = (name: string) => ({
    text: '🎥'.repeat(200),
    undo: { path: '/console/undo', fields: { username: '🎥'.repeat(64), [name]: 'x' } },
  });
  expect(readDoneCookie(PLACE, sent(renderDoneCookie(PLACE, told('room'))))).toEqual(told('room'));
  const large = sent(renderDoneCookie(PLACE, told('x'.repeat(1_000))));
  expect(large.length).toBeLessThan(4_096);
  expect(readDoneCookie(PLACE, large)).toEqual({ text: told('').text });
  const { text } = renderDone({ text: 'Done.', undo: { path: '/console/undo', fields: { name: '<b>' } } });
  expect(text).toContain(
    'action="/console/undo"><input type="hidden" name="name" value="&lt;b&gt;"><button>Undo</button>',
  );
});
