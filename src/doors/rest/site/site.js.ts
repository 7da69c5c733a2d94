/**
 * The script of the site: the search. It reads the words of all pages once, when the field gets the focus, and looks
 * through them in the browser. Every page is complete without it.
 */
export const SITE_SCRIPT = `'use strict';
const field = document.getElementById('search');
const found = document.getElementById('found');
const [told, list] = found.children;
const shownMax = 20;
let sections;
const read = async () => {
  const answer = await fetch('/docs/search.json');
  const rows = await answer.json();
  return rows.map(([page, heading, address, text]) => ({
    page, heading, address, text,
    in: [page, heading, text].map((each) => each.toLowerCase()),
  }));
};
const load = () => (sections ??= read().catch((error) => { sections = undefined; throw error; }));
// Why a choice was made is asked more seldom than how something works.
const scoreOf = ({ address, in: [page, heading, text] }, words) => {
  let score = 0;
  for (const word of words) {
    const here = (page.includes(word) ? 4 : 0) + (heading.includes(word) ? 6 : 0) +
      Math.min(text.split(word).length - 1, 4) / 2;
    if (here === 0) return 0;
    score += here;
  }
  return address.startsWith('/docs/decisions/') ? score / 2 : score;
};
const element = (name, text) => Object.assign(document.createElement(name), { textContent: text });
const entryOf = ({ page, heading, address, text, in: [, , lower] }, [word]) => {
  const entry = element('li', '');
  const link = element('a', heading === page ? page : page + ': ' + heading);
  link.href = address;
  const from = Math.max(0, lower.indexOf(word) - 60);
  const around = (from > 0 ? '... ' : '') + text.slice(from, from + 180) + (text.length > from + 180 ? ' ...' : '');
  entry.append(link, element('p', around));
  return entry;
};
const search = async () => {
  const asked = field.value;
  const words = asked.toLowerCase().split(/\\s+/).filter(Boolean);
  found.hidden = words.length === 0;
  if (found.hidden) return;
  let all;
  try { all = await load(); } catch { told.textContent = 'The search could not be loaded.'; return; }
  if (asked !== field.value) return;
  const hits = all.map((section) => ({ section, score: scoreOf(section, words) }))
    .filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
  told.textContent = hits.length === 0 ? 'Nothing found.' :
    hits.length > shownMax ? 'The best ' + shownMax + ' of ' + hits.length + ' places' :
    hits.length === 1 ? '1 place' : hits.length + ' places';
  list.replaceChildren(...hits.slice(0, shownMax).map(({ section }) => entryOf(section, words)));
};
field.closest('[role=search]').hidden = false;
field.addEventListener('focus', () => load().catch(() => {}));
field.addEventListener('input', search);
field.addEventListener('keydown', (event) => {
  if (event.key === 'Enter') list.querySelector('a')?.click();
  if (event.key === 'Escape') { field.value = ''; search(); }
});
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.target.matches('input')) return;
  event.preventDefault();
  field.focus();
});
// A hit on the page itself leads to its section, so the list makes room.
list.addEventListener('click', (event) => {
  if (event.target.matches('a')) { field.value = ''; search(); }
});
`;
