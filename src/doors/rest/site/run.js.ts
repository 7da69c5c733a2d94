/**
 * The script that runs the marked blocks of a page. A page has it only where the service has a sandbox.
 *
 * It holds the reader's key, so it sends nothing but the requests that the page has, and to its own origin alone. The key is in the
 * memory of the page and in its examples, and comes from an answer or from the field: nothing is read from the address, or written to a storage or a log.
 */
export const RUN_SCRIPT = `'use strict';
// A scope of its own, apart from the script of the site.
{
const article = document.querySelector('article');
const blocks = [...article.querySelectorAll('pre[data-run]')];
const examples = [...article.querySelectorAll('pre > code')].map((code) => ({ code, text: code.textContent }));
/** Keys, tokens and ids: none can leave its place in a header, an address or a text of JSON. */
const safe = /^[\\w.~-]{1,8192}$/;
let values = new Map();
const element = (name, text, more) => Object.assign(document.createElement(name), { textContent: text }, more);

const showValues = () => {
  for (const { code, text } of examples) {
    const filled = text.replace(/^([A-Z]+)=\\S+( +# yours)$/gm,
      (line, name, end) => values.has(name) ? name + '=' + values.get(name) + end : line)
      .replaceAll('http://127.0.0.1:8080/', location.origin + '/');
    if (code.textContent !== filled) code.textContent = filled;
  }
};
const keep = (name, value) => {
  if (typeof value !== 'string' || !safe.test(value)) return;
  // What belongs to another tenant does not work with this key.
  if (name === 'KEY') values.clear();
  values.set(name, value);
  showValues();
};

const namesIn = (requests) => [...JSON.stringify(requests).matchAll(/\\$([A-Z]+)/g)].map(([, name]) => name);
const fill = (text, own) => text.replace(/\\$([A-Z]+)/g, (whole, name) => own.get(name) ?? whole);
/** The public half. The private one stays in the browser and is forgotten. */
const makeJwk = async () => {
  if (!crypto.subtle) throw new Error('Browsers make keys only at https or at 127.0.0.1: open the page there.');
  const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign']);
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', pair.publicKey);
  return JSON.stringify({ kty, crv, x, y });
};
const send = ({ method, path, headers, body }, own) => {
  const url = new URL(fill(path, own), location.origin);
  if (url.origin !== location.origin) throw new Error('This request would leave the service.');
  return fetch(url, {
    method, body: body && fill(body, own), mode: 'same-origin', credentials: 'omit', redirect: 'error',
    cache: 'no-store', referrerPolicy: 'no-referrer',
    headers: Object.entries(headers).map(([name, value]) => [name, fill(value, own)]),
  });
};
const parsed = (text) => { try { return JSON.parse(text); } catch { return undefined; } };

const showAnswer = (into, { method, path }, status, text) => {
  const json = parsed(text);
  const name = method + ' ' + path.replace(/\\?.*/, '') + ' answered ' + status;
  const answer = element('pre', '', { tabIndex: 0 });
  answer.append(element('code', json === undefined ? text : JSON.stringify(json, null, 2)));
  into.append(element('p', name), answer);
  if (!/^https?:\\/\\//.test(json?.checkout_url ?? '')) return;
  const link = element('a', 'Pay on this page', { href: json.checkout_url, target: '_blank', rel: 'noopener noreferrer' });
  const line = element('p', '');
  line.append(link, ', which opens in another tab. Then go on here.');
  into.append(line);
};

const run = async ({ requests, keeps }, told, into) => {
  const before = values;
  const needed = [...new Set(namesIn(requests))];
  const missing = needed.find((name) => name !== 'JWK' && !(name in keeps) && !values.has(name));
  if (missing) return missing === 'KEY' ? 'Run step 1 first, or paste your key above.' : 'Run the steps before this one first.';
  told.textContent = 'Running ...';
  into.replaceChildren();
  const jwk = needed.includes('JWK') ? [['JWK', await makeJwk()]] : [];
  for (const request of requests) {
    const answer = await send(request, new Map([...values, ...jwk]));
    const text = await answer.text();
    // Its reader has forgotten the key meanwhile.
    if (values !== before) return '';
    showAnswer(into, request, answer.status, text);
    if (!answer.ok) return 'The service refused this: ' + answer.status + '. Its answer is below.';
    for (const [name, path] of Object.entries(keeps)) {
      keep(name, path.split('.').reduce((at, member) => at?.[member], parsed(text)));
    }
  }
  return 'Done. The answer is below.';
};

const addButton = (pre) => {
  const runnable = JSON.parse(pre.dataset.run);
  const button = element('button', 'Run', { type: 'button' });
  button.setAttribute('aria-label', 'Run ' + runnable.requests.map(({ method, path }) => method + ' ' + path).join(', '));
  const told = element('p', '', { role: 'status' });
  const line = element('div', '', { className: 'run' });
  const into = element('div', '', { className: 'answers' });
  line.append(button, told);
  pre.after(line, into);
  let isRunning = false;
  button.addEventListener('click', async () => {
    if (isRunning) return;
    isRunning = true;
    try { told.textContent = await run(runnable, told, into); } catch (error) { told.textContent = error.message; }
    isRunning = false;
  });
  return () => { told.textContent = ''; into.replaceChildren(); };
};
const clearings = blocks.map(addButton);

const addField = () => {
  const form = element('form', '', { className: 'own-key' });
  const field = element('input', '', { id: 'own-key', type: 'text', autocomplete: 'off', spellcheck: false, autocapitalize: 'none', maxLength: 200 });
  const use = element('button', 'Use it', { type: 'submit' });
  const forget = element('button', 'Forget it', { type: 'button' });
  const told = element('p', '', { role: 'status' });
  const line = element('div', '', { className: 'run' });
  line.append(field, use, forget, told);
  form.append(
    element('p', 'The steps run from this page, at this service and with its sandbox. Step 1 makes a key. If you have one, paste it. ' +
      'Only the memory of this page holds it, until you leave or reload the page.'),
    element('label', 'Your API key', { htmlFor: 'own-key' }), line);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const key = field.value.trim();
    if (!safe.test(key)) { told.textContent = 'That is not an API key.'; return; }
    field.value = '';
    values = new Map();
    keep('KEY', key);
    told.textContent = 'The examples have your key.';
  });
  const forgetAll = () => {
    values = new Map();
    field.value = '';
    showValues();
    for (const clear of clearings) clear();
  };
  forget.addEventListener('click', () => {
    forgetAll();
    told.textContent = 'The page has forgotten it.';
  });
  // Nothing is behind the back button.
  addEventListener('pagehide', forgetAll);
  let heading = blocks[0];
  while (heading.previousElementSibling && heading.tagName !== 'H2') heading = heading.previousElementSibling;
  heading.after(form);
};
addField();
showValues();
}
`;
