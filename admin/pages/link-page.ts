import { html } from 'hono/html';
import { alertOf, field, type Html, hidden, newPasswordField, pageReply } from './layout.ts';
import { nextPage } from './next-page.ts';
import type { Form, PageCall } from './page-call.ts';
import { afterPassword } from './sign-in-page.ts';

interface LinkKind {
  readonly title: string;
  readonly route: string;
  readonly done: string;
  readonly fields: () => Html | '';
  /** Body of the route from the fields of the form. */
  readonly body: (form: Form) => object;
}

const name = (label: string, field_: string, autocomplete: string) =>
  field(label, field_, { autocomplete, maxlength: '128', required: false });

const kinds: Readonly<Record<string, LinkKind>> = {
  'accept-invite': {
    title: 'Accept the invitation',
    route: '/auth/invites/accept',
    done: '',
    fields:
      () => html`<p>If your organisation uses single sign-on, <a href="sign-in">sign in there</a> instead. That accepts the invitation.</p>
${name('First name', 'first_name', 'given-name')}${name('Last name', 'last_name', 'family-name')}
${newPasswordField('password')}`,
    body: (form) => ({
      password: form('password'),
      first_name: form('first_name') || null,
      last_name: form('last_name') || null,
    }),
  },
  'set-password': {
    title: 'Set a new password',
    route: '/auth/password/reset',
    done: 'The password is set. You can sign in with it.',
    fields: () => newPasswordField('password'),
    body: (form) => ({ password: form('password') }),
  },
  'verify-email': {
    title: 'Confirm your e-mail',
    route: '/auth/verify-email',
    done: 'Thank you. Your e-mail is confirmed.',
    fields: () => '',
    body: () => ({}),
  },
};

/**
 * The page behind links in mails. Their token follows `#`, which browsers do not send: a script enters the link into the form, and
 * without JavaScript the user pastes it.
 */
export function showLink(): Promise<Response> {
  return pastePage(null);
}

/** Shows the form of a link, or processes it. */
export async function submitLink({ c, api }: PageCall, form: Form): Promise<Response> {
  const pasted = /#([a-z-]+)=([A-Za-z0-9_-]{1,128})\s*$/.exec(form('link'));
  const [name, token] = pasted ? [pasted[1] ?? '', pasted[2] ?? ''] : [form('kind'), form('token')];
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
  if (!kind || token === '') return pastePage('This link is not complete. Copy all of it.');
  if (pasted) return linkFormPage(name, kind, token, null);
  const reply = await api(c, 'POST', kind.route, { token, ...kind.body(form) });
  if (!reply.ok) return linkFormPage(name, kind, token, reply.message);
  if (kind.done === '') return afterPassword(reply, nextPage(undefined));
  const body = html`<p role="status">${kind.done}</p><p><a href="sign-in">Sign in</a></p>`;
  return pageReply({ title: kind.title, body });
}

function pastePage(message: string | null): Promise<Response> {
  const body = html`${alertOf(message)}
<form method="post" action="link">
${field('Link from the mail', 'link', { id: 'link', autocomplete: 'off', maxlength: '2048' })}
<p><button>Continue</button></p>
</form>`;
  return pageReply({ title: 'Open a link', body, scripts: ['link.js'], status: message === null ? 200 : 400 });
}

function linkFormPage(name: string, kind: LinkKind, token: string, message: string | null): Promise<Response> {
  const body = html`${alertOf(message)}
<form method="post" action="link">
${hidden('kind', name)}${hidden('token', token)}
${kind.fields()}
<p><button>Continue</button></p>
</form>`;
  return pageReply({ title: kind.title, body, status: message === null ? 200 : 400 });
}
