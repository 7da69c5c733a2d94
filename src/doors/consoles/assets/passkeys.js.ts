/**
 * The script of the pages that ask for a passkey. It shows their forms if the browser knows passkeys, lets it make one or
 * sign with one, and sends the answer as a field of the form. What goes wrong is said on the page.
 */
export const PASSKEYS_SCRIPT = `'use strict';
const knowsPasskeys = () => {
  try {
    return Boolean(PublicKeyCredential.parseCreationOptionsFromJSON && PublicKeyCredential.prototype.toJSON);
  } catch { return false; }
};
const REASONS = {
  NotAllowedError: 'There was no passkey: the question was closed, or took too long. Try again.',
  AbortError: 'There was no passkey: the question was closed. Try again.',
  InvalidStateError: 'This device, or its password manager, has one of your passkeys already.',
  NotSupportedError: 'This device cannot make a passkey that logs in here.',
  ConstraintError: 'This device cannot check that it is you: set up a PIN, a fingerprint or a face on it.',
  SecurityError: 'The browser allows no passkeys at this address.',
};
const askFor = async (form) => {
  const offer = await fetch(form.dataset.options, { method: 'POST', credentials: 'same-origin', body: new URLSearchParams() });
  if (offer.redirected) return location.assign(offer.url);
  if (!offer.ok) {
    const page = new DOMParser().parseFromString(await offer.text(), 'text/html');
    throw new Error(page.querySelector('[role=alert]')?.textContent);
  }
  const options = await offer.json();
  const credential = form.dataset.passkey === 'create' ?
    await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }) :
    await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
  form.elements.answer.value = JSON.stringify(credential);
  form.submit();
};
if (knowsPasskeys()) {
  for (const each of document.querySelectorAll('[data-without-passkeys]')) each.hidden = true;
  for (const form of document.querySelectorAll('form[data-passkey]')) {
    const alert = form.querySelector('[role=alert]');
    const say = (text) => { alert.textContent = text; alert.hidden = text === ''; };
    form.hidden = false;
    form.querySelector('[autofocus]')?.focus();
    let isAsking = false;
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      if (isAsking) return;
      isAsking = true;
      say('');
      try {
        await askFor(form);
      } catch (error) {
        say(REASONS[error.name] ?? (error.name === 'Error' && error.message || 'That did not work. Try again in a moment.'));
      }
      isAsking = false;
    });
  }
}
`;
