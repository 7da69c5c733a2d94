/** The pages of the demo: that of the host, that of a guest, and that of a link which leads nowhere. */
import { renderDocument } from '@boxoffice/pages/document';
import { type Html, html } from '@boxoffice/pages/html';

const WITHOUT_SCRIPTS = html`<noscript><p class="note">This page needs JavaScript, and a browser that carries video (WebRTC): it makes
a key, asks for a token, and connects to the relay.</p></noscript>
<p class="alert" role="alert" id="problem" hidden></p>
<p class="hidden" role="status" id="announcer"></p>`;

export function renderHostPage(): string {
  return renderPage(
    'Video demo',
    html`<h1>A room, from the signup to the bill</h1>
${WITHOUT_SCRIPTS}
<p class="note" id="taken" hidden>Another browser has signed up here, and hosts the room. Join by the link that it shows. To begin again, stop the
demo with Ctrl-C and start it.</p>
<div class="hosting" id="hosting" hidden>
<section class="card" aria-labelledby="steps-title">
<h2 id="steps-title">Five steps</h2>
<ol class="steps">
${step(
  'sign-up',
  'Sign up',
  html`<p>This makes a tenant, and its first API key.</p>
<button type="button" class="primary" id="do-sign-up">Sign up</button>`,
)}
${step(
  'pay',
  'Pay',
  html`<p>A page of the sandbox opens: keep its test card, press Pay, and come back.</p>
<a class="button primary" id="do-pay" target="_blank" rel="noopener">Pay $20.00 <span class="hidden">(opens a new tab)</span></a>`,
)}
${step(
  'open',
  'Open a room',
  html`<p>This starts a relay, too, with a key that only reports usage.</p>
<button type="button" class="primary" id="do-open">Open a room</button>`,
)}
${step('join', 'Join it', joinForm('ann'))}
${step(
  'invite',
  'Bring others',
  html`<p>Open this link in another window, browser or device:</p>
<p class="secret"><code id="link" tabindex="0" role="group" aria-label="Link to join"></code>
<button type="button" id="do-copy">Copy</button></p>
<p class="hint">Two windows of one browser can be in the room. For more, use private windows or other browsers.</p>`,
)}
</ol>
</section>
<div class="show">
<div class="cards">
<section class="card"><p class="label" id="balance-label">Balance</p>
<p class="figure" id="balance" aria-labelledby="balance-label" role="group">$0.000000</p>
<p class="hint" id="spent">Nothing is charged yet</p></section>
<section class="card"><p class="label">In the room</p><p class="figure" id="present">0</p>
<p class="hint" id="room-name">There is no room yet</p></section>
</div>
${stage(html`<button type="button" class="danger" id="do-end" hidden>End the room</button>`)}
</div>
<div class="log" id="log" hidden>
<section class="card"><h2>What happened</h2><ol class="plain-list" id="happenings" aria-label="What happened, newest first"></ol></section>
<section class="card"><h2>Ledger</h2><ol class="plain-list" id="entries" aria-label="The newest entries of the ledger"></ol>
<p class="hint">Entries of $0.000000 are left out.</p></section>
</div>
</div>`,
  );
}

export function renderGuestPage(link: string): string {
  return renderPage(
    'Join the room',
    html`<h1>A room of the video demo</h1>
${WITHOUT_SCRIPTS}
<section class="card" id="entrance" aria-labelledby="entrance-title" hidden>
<h2 id="entrance-title">Join it</h2>
${joinForm('')}
</section>
${stage(html`<button type="button" id="do-leave" hidden>Leave</button>`)}`,
    html` data-link="${link}"`,
  );
}

export function renderLostPage(): string {
  return renderPage(
    'No such room',
    html`<h1>This link leads to no open room</h1>
<p>The room has ended, or the demo was started again. Ask the host for a new link.</p>`,
    undefined,
  );
}

function renderPage(title: string, main: Html, attributes: Html | undefined = html``): string {
  return renderDocument({
    title: `${title} · Boxoffice`,
    head: html`<link rel="icon" href="/demo/icon.svg">
<link rel="stylesheet" href="/demo/style.css">
${attributes && html`<script type="module" src="/demo/main.ts"></script>`}`,
    bodyClass: 'wide',
    body: html`<a class="skip" href="#main">Skip to the content</a>
<header class="top"><div><span class="brand">Boxoffice</span>
<span class="badge">Video demo: a sandbox, no real money</span></div></header>
<main id="main"${attributes}>
${main}
</main>`,
  });
}

/** `before` is what there is to do; when it is done, a line in its place says what came of it. */
function step(name: string, title: string, before: Html): Html {
  return html`<li id="step-${name}"><h2>${title}</h2>
<div class="before" hidden>${before}</div>
<p class="after hint" hidden></p></li>`;
}

function joinForm(username: string): Html {
  return html`<form id="join">
<div class="field"><label for="username">Your name</label>
<input id="username" name="username" value="${username}" required maxlength="32" autocomplete="off" spellcheck="false"></div>
<fieldset class="checks"><legend>What you send</legend>
${choice('drawn', 'A drawn test picture', true)}
${choice('camera', 'Camera and microphone')}
${choice('nothing', 'Nothing: only watch')}
</fieldset>
<button class="primary">Join</button>
</form>`;
}

function choice(value: string, text: string, isChosen = false): Html {
  return html`<label><input type="radio" name="picture" value="${value}"${isChosen && html` checked`}> ${text}</label>`;
}

function stage(action: Html): Html {
  return html`<section aria-labelledby="room-title" id="stage" hidden>
<div class="with-heading"><h2 id="room-title">The room</h2>
<span class="inline"><button type="button" id="do-hear" aria-pressed="false">Hear the others</button>
${action}</span></div>
<ul class="tiles" id="tiles" aria-label="Participants" tabindex="-1"></ul>
<p class="hint" id="counting">The relay reports each second, so its count follows that of the browser; the last part comes when the stay
ends.</p>
</section>
<template id="tile"><li class="card tile">
<div class="screen"><video autoplay playsinline muted></video><p class="nothing" hidden></p></div>
<div class="about"><h3><bdi></bdi><span class="badge you" hidden>you</span><span class="badge warn muted" hidden></span></h3>
<dl class="facts">
<dt>Picture</dt><dd class="picture">none yet</dd>
<dt>The relay sent</dt><dd class="relayed">0 bytes</dd>
<dt>The browser got</dt><dd class="received">0 bytes</dd>
<dt>Charged</dt><dd class="charged">$0.000000</dd>
</dl>
<p class="actions" hidden>
<button type="button" class="mute-audio" aria-pressed="false">Mute sound</button>
<button type="button" class="mute-video" aria-pressed="false">Mute picture</button>
<button type="button" class="kick danger">Kick</button></p>
</div></li></template>`;
}
