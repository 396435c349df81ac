import { html, raw } from 'hono/html';
import { renderSVG } from 'uqr';
import type { PendingReply } from '../identity/second-factor/pending.ts';
import { alertOf, codeField, field, type Html, hidden, pageReply, redirectReply } from './layout.ts';
import { nextPage } from './next-page.ts';
import type { Form, PageCall } from './page-call.ts';

interface PendingState {
  readonly pending: Pick<PendingReply, 'pending_token' | 'methods'>;
  readonly next: string;
  readonly message: string | null;
}

/** Asks for the second factor, or for its enrolment if the user has none. */
export function showPending({ pending, next, message }: PendingState): Promise<Response> {
  const { pending_token: token, methods } = pending;
  const state = html`${hidden('pending_token', token)}${hidden('return_to', next)}${hidden('methods', methods.join(' '))}`;
  const status = message === null ? 200 : 401;
  if (methods.length === 0) {
    return pageReply({ title: 'Add a second factor', body: enrolment(state, next, message), scripts: ['webauthn.js'], status });
  }
  const body = html`${alertOf(message)}
${methods.includes('webauthn') ? keyForm('verify', html`${hidden('pending_token', token)}`, next, 'Use a security key') : ''}
${
  methods.includes('totp')
    ? html`<form method="post" action="second-factor">${state}${codeField()}<p><button name="action" value="code">Continue</button></p></form>`
    : ''
}
${
  methods.includes('recovery_code')
    ? html`<h2>Without your device</h2><form method="post" action="second-factor">${state}
${field('Recovery code', 'recovery_code', { autocomplete: 'off', maxlength: '32' })}
<p><button class="plain" name="action" value="recovery">Use the recovery code</button></p></form>`
    : ''
}
<p><a href="sign-in">Start again</a></p>`;
  return pageReply({ title: 'Second factor', body, scripts: ['webauthn.js'], status });
}

/** Processes the forms of `showPending`: codes, and the enrolment of an authenticator app. */
export async function submitSecondFactor({ c, api }: PageCall, form: Form): Promise<Response> {
  const [pending_token, next] = [form('pending_token'), nextPage(form('return_to'))];
  const methods = form('methods').split(' ').filter(Boolean) as PendingReply['methods'];
  const again = (message: string | null) => showPending({ pending: { pending_token, methods }, next, message });
  switch (form('action')) {
    case 'code':
    case 'recovery': {
      const proof =
        form('action') === 'code' ? { passcode: digitsOf(form('passcode')) } : { recovery_code: form('recovery_code') };
      const reply = await api(c, 'POST', '/auth/second-factor/verify', { pending_token, ...proof });
      return reply.ok ? redirectReply(next, reply.cookies) : again(reply.message);
    }
    case 'enrol': {
      const sent = { pending_token, kind: 'totp', name: form('name') };
      const { ok, body, message } = await api(c, 'POST', '/auth/second-factor/enrol', sent);
      return ok
        ? appPage('second-factor', body, html`${hidden('pending_token', pending_token)}${hidden('return_to', next)}`)
        : again(message);
    }
    case 'confirm': {
      const app = { id: form('factor_id'), secret: form('secret'), uri: form('uri') };
      const sent = { pending_token, factor_id: app.id, passcode: digitsOf(form('passcode')) };
      const reply = await api(c, 'POST', '/auth/second-factor/confirm', sent);
      const state = html`${hidden('pending_token', pending_token)}${hidden('return_to', next)}`;
      if (!reply.ok) return appPage('second-factor', app, state, reply.message);
      return codesPage(reply.body.recovery_codes, next, reply.cookies);
    }
    default:
      return redirectReply('sign-in');
  }
}

function enrolment(state: Html, next: string, message: string | null): Html {
  const name = field('Name of the device', 'name', { maxlength: '255', value: 'My device', id: 'app-name' });
  return html`${alertOf(message)}
<p>Your organisation requires a second factor. Add one to complete the sign-in.</p>
<h2>Authenticator app</h2>
<form method="post" action="second-factor">${state}${name}<p><button name="action" value="enrol">Set up an app</button></p></form>
<h2>Security key or passkey</h2>
${keyForm('enrol-pending', html`${state}${field('Name of the key', 'name', { maxlength: '255', value: 'My key' })}`, next, 'Set up a key')}
${newCodes(next)}`;
}

/** A form whose button works only with JavaScript, because browsers have no other way to use security keys. */
export function keyForm(step: 'verify' | 'enrol' | 'enrol-pending', fields: Html, next: string, label: string): Html {
  return html`<form data-webauthn="${step}" data-next="${next}">${fields}
<p><button disabled>${label}</button></p>
<p role="alert"></p>
<noscript><p class="muted">Security keys need JavaScript.</p></noscript>
</form>`;
}

/** Recovery codes of a security key, filled in by the script. */
export function newCodes(next: string): Html {
  return html`<section id="new-codes" tabindex="-1" hidden aria-labelledby="new-codes-title">
<h2 id="new-codes-title">Your recovery codes</h2>
<p>Store them in a safe place. Each works once, and they are not shown again.</p>
<pre id="new-codes-list"></pre>
<p><a href="${next}">Continue</a></p>
</section>`;
}

/** Shows the secret of an authenticator app and asks for its first code. `action` is the page that processes it. */
export function appPage(
  action: 'second-factor' | 'account',
  app: { readonly id: string; readonly secret: string; readonly uri: string },
  state: Html | '' = '',
  message: string | null = null,
): Promise<Response> {
  // A client can send another URI with the form, so only the known scheme is drawn.
  const code = app.uri.startsWith('otpauth://') && app.uri.length <= 1_024 ? raw(renderSVG(app.uri)) : '';
  const body = html`${alertOf(message)}
<p>Scan this code with your app, or enter the key by hand. Then enter the code that the app shows.</p>
<div class="code" role="img" aria-label="QR code of the key">${code}</div>
<dl><dt>Key</dt><dd><code>${app.secret}</code></dd></dl>
<form method="post" action="${action}">
${state}${hidden('factor_id', app.id)}${hidden('secret', app.secret)}${hidden('uri', app.uri)}
${codeField()}
<p><button name="action" value="confirm">Confirm</button></p>
</form>`;
  return pageReply({ title: 'Set up your app', body, status: message === null ? 200 : 400 });
}

/** Shows new recovery codes, once. */
export async function codesPage(codes: readonly string[] | null, next: string, cookies: readonly string[]): Promise<Response> {
  if (codes === null) return redirectReply(next, cookies);
  const body = html`<p>Store these codes in a safe place. Each works once instead of your second factor, and they are not shown again.</p>
<pre>${codes.join('\n')}</pre>
<p><a href="${next}">Continue</a></p>`;
  const page = await pageReply({ title: 'Your recovery codes', body });
  for (const cookie of cookies) page.headers.append('set-cookie', cookie);
  return page;
}

/** Apps show codes in two groups of three digits. */
export function digitsOf(text: string): string {
  return text.replaceAll(' ', '');
}
