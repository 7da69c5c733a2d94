/** `/console/signup`. */
import { html } from '@boxoffice/pages/html';
import { parseMemberEmail } from '../../../access/members/member.ts';
import { openAccount } from '../../../access/signup/open-account.ts';
import { parseLine } from '../../../base/lib/one-line.ts';
import { EMAIL_LENGTH_MAX, TENANT_NAME_LENGTH_MAX } from '../../../base/tenants/tenant.ts';
import { type Answer, type Page, page, redirect } from '../../consoles/answer.ts';
import { type Faults, field } from '../../consoles/components.ts';
import { WRONG_EMAIL } from '../../consoles/fields.ts';
import { faultsOf, orWrong, readFields } from '../../consoles/read-fields.ts';
import { fromOf } from '../../consoles/route.ts';
import type { Call } from '../route.ts';

const WRONG_NAME = `Give a name of 1 to ${TENANT_NAME_LENGTH_MAX} characters.`;

export async function showSignup(): Promise<Answer> {
  return page(signupPage('', '', {}));
}

export async function submitSignup(call: Call): Promise<Answer> {
  const { deps, form } = call;
  const [name = '', email = ''] = [form.get('name'), form.get('email')];
  try {
    const account = readFields({
      name: () => orWrong(parseLine(name, TENANT_NAME_LENGTH_MAX), WRONG_NAME),
      email: () => orWrong(parseMemberEmail(email), WRONG_EMAIL),
    });
    return redirect('/console/start', { secret: await openAccount(deps, account, fromOf(call)) });
  } catch (error) {
    const faults = faultsOf(error);
    if (!faults) throw error;
    return page(signupPage(name, email, faults), 400);
  }
}

function signupPage(name: string, email: string, faults: Faults): Page {
  const body = html`<h1>Sign up</h1>
<form method="post" action="/console/signup" novalidate>
${field({
  name: 'name',
  label: 'Name of your company or project',
  value: name,
  faults,
  input: html`autocomplete="organization" maxlength="${TENANT_NAME_LENGTH_MAX}" required`,
})}
${field({
  name: 'email',
  label: 'E-mail address',
  value: email,
  hint: 'Links to log in go there.',
  faults,
  input: html`type="email" autocomplete="email" maxlength="${EMAIL_LENGTH_MAX}" required`,
})}
<p><button class="primary">Sign up</button></p>
</form>
<p>Have you signed up before? <a href="/console/login">Log in</a>.</p>`;
  return { title: 'Sign up', body, layout: 'narrow' };
}
