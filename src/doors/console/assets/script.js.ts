/**
 * The script of the console. Every page works without it: it shows times in the reader's zone, counts down, copies,
 * and reads a part of a page again that waits for something.
 */
export const SCRIPT = `'use strict';
const two = (number) => String(number).padStart(2, '0');
const showTimes = (root) => {
  for (const time of root.querySelectorAll('time[datetime]:not([data-shown])')) {
    const at = new Date(time.dateTime);
    time.title = time.textContent;
    time.dataset.shown = '';
    if (time.dataset.until === undefined) {
      time.textContent = at.getFullYear() + '-' + two(at.getMonth() + 1) + '-' + two(at.getDate()) + ' ' +
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
const readAgain = () => {
  const part = document.querySelector('[data-again]');
  if (!part) return;
  setTimeout(async () => {
    try {
      const answer = await fetch(part.dataset.again, { credentials: 'same-origin' });
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const fresh = page.getElementById(part.id);
      if (answer.ok && fresh && fresh.textContent !== part.textContent) {
        part.replaceWith(fresh);
        showTimes(fresh);
      }
    } catch {}
    readAgain();
  }, 2000);
};
showTimes(document);
prepareCopying(document);
countDown();
setInterval(countDown, 1000);
readAgain();
`;
