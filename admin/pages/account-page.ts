import { html } from 'hono/html';
import type { ApiReply } from './call-api.ts';
import { alertOf, field, type Html, hidden, newPasswordField, pageReply, passwordField, redirectReply } from './layout.ts';
import type { Form, PageCall } from './page-call.ts';
import { appPage, codesPage, digitsOf, keyForm, newCodes } from './second-factor-page.ts';
import { providerPage } from './sign-in-page.ts';

/** Result of a form: the message for the page, or a page of its own. */
type Outcome = Response | { readonly message: string | null; readonly done: string };

/** Second factors, password and sessions of the signed-in user. */
export function showAccount(call: PageCall): Promise<Response> {
  return accountPage(call, { message: null, done: '' });
}

/** Processes the form that `action` names. */
export async function submitAccount(call: PageCall, form: Form): Promise<Response> {
  const action = actions[form('action')];
  if (!action) return showAccount(call);
  const outcome = await action(call, form);
  return outcome instanceof Response ? outcome : accountPage(call, outcome);
}

const actions: Readonly<Record<string, (call: PageCall, form: Form) => Promise<Outcome>>> = {
  async 'add-app'({ c, api }, form) {
    const sent = { kind: 'totp', name: form('name'), current_password: form('current_password') };
    const reply = await api(c, 'POST', '/auth/second-factors/enrolments', sent);
    return reply.ok ? appPage('account', reply.body) : outcomeOf(reply, '');
  },
  async confirm({ c, api }, form) {
    const app = { id: form('factor_id'), secret: form('secret'), uri: form('uri') };
    const path = `/auth/second-factors/${encodeURIComponent(app.id)}/confirm`;
    const reply = await api(c, 'POST', path, { passcode: digitsOf(form('passcode')) });
    if (!reply.ok) return appPage('account', app, '', reply.message);
    return codesPage(reply.body.recovery_codes, 'account', []);
  },
  async remove({ c, api }, form) {
    const path = `/auth/second-factors/${encodeURIComponent(form('factor_id'))}`;
    return outcomeOf(
      await api(c, 'DELETE', path, { current_password: form('current_password') }),
      'The second factor is removed.',
    );
  },
  async codes({ c, api }, form) {
    const reply = await api(c, 'POST', '/auth/recovery-codes', { current_password: form('current_password') });
    return reply.ok ? codesPage(reply.body.recovery_codes, 'account', []) : outcomeOf(reply, '');
  },
  async password({ c, api }, form) {
    const sent = { current_password: form('current_password'), new_password: form('new_password') };
    return outcomeOf(await api(c, 'POST', '/auth/password', sent), 'The password is changed. Your other sessions have ended.');
  },
  async session({ c, api }, form) {
    const path = `/auth/sessions/${encodeURIComponent(form('session_id'))}`;
    return outcomeOf(await api(c, 'DELETE', path), 'The session has ended.');
  },
  async logout({ c, api }) {
    const reply = await api(c, 'POST', '/auth/logout', {});
    if (reply.body.logout_url === undefined) return redirectReply('sign-in', reply.cookies);
    return providerPage({ body: { url: reply.body.logout_url }, cookies: reply.cookies }, 'Sign out at your identity provider');
  },
};

function outcomeOf({ message }: ApiReply, done: string): Outcome {
  return { message, done };
}

async function accountPage({ c, api }: PageCall, { message, done }: Exclude<Outcome, Response>): Promise<Response> {
  const self = await api(c, 'GET', '/auth/self');
  if (self.status === 401) return redirectReply('sign-in');
  const factors = await api(c, 'GET', '/auth/second-factors');
  const sessions = await api(c, 'GET', '/auth/sessions');
  for (const reply of [self, factors, sessions]) {
    if (reply.message !== null)
      return pageReply({ title: 'Account security', body: alertOf(reply.message) as Html, status: 503 });
  }
  const body = html`${alertOf(message)}${message === null && done !== '' ? html`<p role="status">${done}</p>` : ''}
<p>Signed in as <strong>${self.body.user?.email ?? ''}</strong> at ${self.body.organisation.name}.</p>
<form method="post" action="account"><button class="plain" name="action" value="logout">Sign out</button></form>
${self.body.has_password === 1 ? html`${factorSection(factors.body)}\n${passwordSection()}` : providerSection()}
${sessionSection(sessions.body.data)}`;
  return pageReply({ title: 'Account security', body, scripts: ['webauthn.js'], status: message === null ? 200 : 400 });
}

interface Factors {
  readonly data: readonly {
    readonly id: string;
    readonly kind: string;
    readonly name: string;
    readonly last_used_at: string | null;
  }[];
  readonly recovery_codes_left: number;
  readonly is_required: 0 | 1;
}

const kindNames: Readonly<Record<string, string>> = { totp: 'Authenticator app', webauthn: 'Security key' };

function factorSection({ data, recovery_codes_left: left, is_required: required }: Factors): Html {
  const name = (value: string) => field('Name', 'name', { maxlength: '255', value });
  return html`<h2>Second factors</h2>
${required ? html`<p>Your organisation requires a second factor.</p>` : ''}
${data.length === 0 ? html`<p>You have none. With one, your password alone is not enough to sign in.</p>` : ''}
<ul class="items">${data.map(
    (one) => html`<li><strong>${one.name}</strong> (${kindNames[one.kind]})
<span class="muted">${one.last_used_at === null ? 'not used yet' : html`last used ${timeOf(one.last_used_at)}`}</span>
<details><summary>Remove ${one.name}</summary><form method="post" action="account">${hidden('factor_id', one.id)}
${passwordField()}<p><button name="action" value="remove">Remove</button></p></form></details></li>`,
  )}</ul>
${
  data.some((one) => one.kind === 'totp')
    ? ''
    : html`<details><summary>Add an authenticator app</summary><form method="post" action="account">
${name('My phone')}${passwordField()}<p><button name="action" value="add-app">Add</button></p></form></details>`
}
<details><summary>Add a security key or passkey</summary>
${keyForm('enrol', html`${name('My key')}${passwordField()}`, 'account', 'Add')}</details>
${newCodes('account')}
${
  data.length === 0
    ? ''
    : html`<h2>Recovery codes</h2><p>You have ${left} unused codes.</p>
<details><summary>Create new codes</summary><form method="post" action="account">${passwordField()}
<p><button name="action" value="codes">Create new codes</button></p></form></details>`
}`;
}

function providerSection(): Html {
  return html`<h2>Password and second factors</h2>
<p>You have no password here. You sign in at your identity provider, which manages your password and second factors.</p>`;
}

function passwordSection(): Html {
  return html`<h2>Password</h2>
<details><summary>Change the password</summary><form method="post" action="account">
${passwordField('Current password')}${newPasswordField('new_password')}
<p><button name="action" value="password">Change</button></p></form></details>`;
}

interface SessionItem {
  readonly id: string;
  readonly created_at: string;
  readonly client_ip: string;
  readonly user_agent: string | null;
  readonly is_current: 0 | 1;
}

function sessionSection(sessions: readonly SessionItem[]): Html {
  return html`<h2>Sessions</h2>
<ul class="items">${sessions.map(
    (one) => html`<li>${one.user_agent ?? 'Unknown client'}<br>
<span class="muted">since ${timeOf(one.created_at)}, from ${one.client_ip}</span>
${
  one.is_current
    ? html`<p>This session</p>`
    : html`<form method="post" action="account">${hidden('session_id', one.id)}
<button class="plain" name="action" value="session" aria-label="End the session from ${one.client_ip}, since ${shortTime(one.created_at)}">End</button></form>`
}</li>`,
  )}</ul>`;
}

function timeOf(iso: string): Html {
  return html`<time datetime="${iso}">${shortTime(iso)}</time>`;
}

function shortTime(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`;
}
