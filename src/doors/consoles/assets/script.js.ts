/**
 * The script of the console. Every page works without it: it shows times in the reader's zone, counts down, copies,
 * reads a part of a page again that waits for something, and adds events as they happen.
 */
export const SCRIPT = `'use strict';
const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
const two = (number) => String(number).padStart(2, '0');
const showTimes = (root) => {
  for (const time of root.querySelectorAll('time[datetime]:not([data-shown], [data-utc])')) {
    const at = new Date(time.dateTime);
    time.dataset.shown = '';
    if (time.dataset.until === undefined) {
      time.textContent = at.getDate() + ' ' + months[at.getMonth()] + ' ' + at.getFullYear() + ', ' +
        two(at.getHours()) + ':' + two(at.getMinutes());
    }
  }
};
const countDown = () => {
  for (const time of document.querySelectorAll('time[data-until]')) {
    const left = Math.max(0, Math.floor((new Date(time.dateTime) - Date.now()) / 1000));
    time.textContent = left === 0 ? 'now' :
      'in ' + Math.floor(left / 3600) + ':' + two(Math.floor(left / 60) % 60) + ':' + two(left % 60);
  }
};
const prepareCopying = (root) => {
  for (const button of root.querySelectorAll('button[data-copy]')) {
    button.hidden = !navigator.clipboard;
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = 'Copied';
    });
  }
};
const preparePrinting = () => {
  for (const button of document.querySelectorAll('button[data-print]')) {
    button.hidden = false;
    button.addEventListener('click', () => print());
  }
};
const readAgain = () => {
  const part = document.querySelector('[data-again]');
  if (!part) return;
  setTimeout(async () => {
    try {
      const answer = await fetch(part.dataset.again, byItself);
      const page = parse(await answer.text());
      const fresh = page.getElementById(part.id);
      if (answer.ok && fresh && fresh.textContent !== part.textContent) {
        part.replaceWith(fresh);
        showTimes(fresh);
      }
    } catch {}
    readAgain();
  }, 2000);
};
const partsRead = new Map();
const showPart = (fresh) => {
  const part = fresh && document.getElementById(fresh.id);
  const held = part?.contains(document.activeElement) && document.activeElement;
  const row = held && held.matches('tr[id]') && fresh.querySelector('#' + CSS.escape(held.id));
  // Who has the focus in it would lose the place, unless it is at a row; who points at a button would hit another one.
  if (!part || (held && !row) || part.querySelector('form:hover') || fresh.innerHTML === partsRead.get(part.id)) return;
  partsRead.set(part.id, fresh.innerHTML);
  part.replaceWith(fresh);
  showTimes(fresh);
  if (row) row.focus({ preventScroll: true });
};
const parse = (text) => new DOMParser().parseFromString(text, 'text/html');
// What the page asks by itself is no use of the session.
const byItself = { credentials: 'same-origin', headers: { 'by-itself': '1' } };
const readParts = async () => {
  const answer = await fetch(location.href, byItself);
  if (!answer.ok) return;
  const page = parse(await answer.text());
  for (const part of document.querySelectorAll('[data-live]')) showPart(page.getElementById(part.id));
};
const followEvents = () => {
  const feed = document.querySelector('[data-events]');
  if (!feed) return;
  const state = document.getElementById('feed-state');
  const say = (text) => { if (state.textContent !== text) state.textContent = text; };
  const source = new EventSource(feed.dataset.events);
  let reading;
  const readSoon = () => {
    reading ??= setTimeout(() => { reading = undefined; readParts().catch(() => {}); }, 500);
  };
  const what = feed.dataset.what || 'events';
  source.onopen = () => say('New ' + what + ' appear by themselves.');
  source.onerror = () => say(source.readyState === EventSource.CLOSED ?
    'No more ' + what + ' arrive. Reload the page to see newer ones.' : 'The connection was lost, and is made again.');
  source.addEventListener('row', ({ data }) => {
    const row = parse(data).body.firstElementChild;
    showTimes(row);
    feed.prepend(row);
    while (feed.children.length > 200) feed.lastElementChild.remove();
    readSoon();
  });
  source.addEventListener('part', ({ data }) => showPart(parse(data).body.firstElementChild));
  source.addEventListener('gap', () => { source.close(); location.reload(); });
  source.addEventListener('full', () => { source.close(); say('As many pages of your tenant as may be follow already. Reload this one to see newer ' + what + '.'); });
  source.addEventListener('over', () => { source.close(); say('Your session is over. Log in again to see newer ' + what + '.'); });
};
showTimes(document);
prepareCopying(document);
preparePrinting();
countDown();
setInterval(countDown, 1000);
readAgain();
followEvents();
`;
