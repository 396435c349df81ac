import { html } from 'hono/html';
import type { ApiReply } from './call-api.ts';
import { alertOf, field, type Html, hidden, pageReply, redirectReply } from './layout.ts';
import { nextPage } from './next-page.ts';
import type { Form, PageCall } from './page-call.ts';
import { showPending } from './second-factor-page.ts';

/** Form for e-mail and password, and for single sign-on. */
export function showSignIn({ c }: PageCall): Promise<Response> {
  return signInPage({ next: nextPage(c.req.query('return_to')), email: '', message: null });
}

/** Signs in. The right password of a user with a second factor leads to its page. */
export async function submitSignIn({ c, api }: PageCall, form: Form): Promise<Response> {
  const [email, next] = [form('email'), nextPage(form('return_to'))];
  const usesSso = form('method') === 'sso';
  const organisation = form('organisation_id').trim();
  const connection = form('sso_client_id');
  const reply = await api(c, 'POST', '/auth/login', {
    email,
    ...(usesSso ? { return_to: next, list_connections: true } : { password: form('password') }),
    ...(organisation === '' ? {} : { organisation_id: organisation }),
    ...(connection === '' ? {} : { sso_client_id: connection }),
  });
  if (!reply.ok) return signInPage({ next, email, message: textOf(reply) });
  if (reply.body.object === 'sso-connections') return choicePage(reply.body.linked_sso, { next, email, organisation });
  return afterPassword(reply, next);
}

/** Returns the text of a refusal with labels of the form. The API names its fields. */
function textOf({ status, message }: ApiReply): string | null {
  if (status === 401)
    return 'The e-mail or the password is wrong. If several organisations use this e-mail, enter the organisation id';
  return message?.replace('organisation_id', 'Organisation id') ?? null;
}

/** Continues after a right password: signed in, or with a second factor, or at the identity provider. */
export function afterPassword(reply: ApiReply, next: string): Response | Promise<Response> {
  if (reply.body.object === 'session') return redirectReply(next, reply.cookies);
  if (reply.body.object === 'sso-authorization') return providerPage(reply);
  return showPending({ pending: reply.body, next, message: null });
}

/** Browsers refuse a redirect of a form to another host, so the page leads there. */
export async function providerPage(
  { body, cookies }: Pick<ApiReply, 'body' | 'cookies'>,
  title = 'Continue to your identity provider',
): Promise<Response> {
  const page = await pageReply({
    title,
    continueTo: body.url,
    body: html`<p><a href="${body.url}">Continue to ${new URL(body.url).host}</a></p>`,
  });
  for (const cookie of cookies) page.headers.append('set-cookie', cookie);
  return page;
}

interface Connection {
  readonly id: string;
  readonly name: string;
}

/** Asks which of several connections to use. The same form is sent again with the chosen one. */
function choicePage(
  connections: readonly Connection[],
  { next, email, organisation }: { readonly next: string; readonly email: string; readonly organisation: string },
): Promise<Response> {
  const body = html`<form method="post" action="sign-in">
${hidden('return_to', next)}
${hidden('email', email)}
${hidden('organisation_id', organisation)}
${hidden('method', 'sso')}
${connections.map(({ id, name }) => html`<p><button name="sso_client_id" value="${id}">${name}</button></p>`)}
</form>`;
  return pageReply({ title: 'Choose where to sign in', body });
}

interface SignInState {
  readonly next: string;
  readonly email: string;
  readonly message: string | null;
}

function signInPage({ next, email, message }: SignInState): Promise<Response> {
  const body: Html = html`${alertOf(message)}
<form method="post" action="sign-in">
${hidden('return_to', next)}
${field('E-mail', 'email', { type: 'email', autocomplete: 'username', maxlength: '254', value: email })}
${field('Password', 'password', { type: 'password', autocomplete: 'current-password', maxlength: '256', required: false })}
<details><summary>Several organisations use this e-mail</summary>
${field('Organisation id', 'organisation_id', { required: false, maxlength: '36' })}
</details>
<p><button name="method" value="password">Sign in</button>
<button class="plain" name="method" value="sso">Use single sign-on</button></p>
</form>
<p><a href="forgot-password">Forgot your password?</a></p>`;
  return pageReply({ title: 'Sign in', body, status: message === null ? 200 : 401 });
}

export function showForgotPassword(): Promise<Response> {
  return forgotPage(null);
}

/** The page is the same whether the user exists or not. */
export async function submitForgotPassword({ c, api }: PageCall, form: Form): Promise<Response> {
  const reply = await api(c, 'POST', '/auth/password/forgot', { email: form('email') });
  if (!reply.ok) return forgotPage(reply.message);
  const body = html`<p role="status">If a user with a password has this e-mail, a link to set a new one is on its way. If you use single
sign-on, sign in with it.</p>
<p><a href="sign-in">Sign in</a></p>`;
  return pageReply({ title: 'Forgot your password', body });
}

function forgotPage(message: string | null): Promise<Response> {
  const body = html`${alertOf(message)}
<form method="post" action="forgot-password">
${field('E-mail', 'email', { type: 'email', autocomplete: 'username', maxlength: '254' })}
<p><button>Send a link</button></p>
</form>
<p><a href="sign-in">Sign in</a></p>`;
  return pageReply({ title: 'Forgot your password', body, status: message === null ? 200 : 400 });
}
