import { expect, test } from 'vitest';
import { readDoneCookie, renderDone, renderDoneCookie } from '../../../src/doors/consoles/done-cookie.ts';

const URL = 'https://console.example';

/** As a browser sends it back. */
const sent = (header: string) => header.split(';')[0]!;

test.each(['Invitation sent to frank@example.com.', 'The ban of Zoë 🎥; "x", is lifted.'])(
  'what a form did is read back: %s',
  (text) => {
    const header = renderDoneCookie(URL, text);
    expect(header).toMatch(
      /^__Host-boxoffice-done=[^;]+; Path=\/; Max-Age=60; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect(readDoneCookie(URL, `__Host-boxoffice=secret; ${sent(header)}`)).toBe(text);
  },
);

test('the consoles of one host do not tell of each other', () => {
  const header = sent(renderDoneCookie('http://127.0.0.1:8083', 'Done.', 'boxoffice-operator'));
  expect(readDoneCookie('http://127.0.0.1:8080', header)).toBeUndefined();
});

test('what was told is gone', () => {
  const header = renderDoneCookie(URL, null);
  expect(header).toContain('Max-Age=0');
  expect(readDoneCookie(URL, sent(header))).toBeUndefined();
});

test('a cookie that is none of ours is no text, and a long text is cut', () => {
  expect(readDoneCookie(URL, '__Host-boxoffice-done=%E0%A4%A')).toBeUndefined();
  expect(readDoneCookie(URL, undefined)).toBeUndefined();
  expect(readDoneCookie(URL, sent(renderDoneCookie(URL, '🎥'.repeat(300))))).toBe('🎥'.repeat(200));
  expect(renderDone('<b>').text).toContain('&lt;b&gt;');
});
