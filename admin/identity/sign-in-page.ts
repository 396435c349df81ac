import { pageReply } from '../http/page.ts';
import type { RawReply } from '../http/raw-reply.ts';

const script = `'use strict';
const find = (id) => document.getElementById(id);
find('form').addEventListener('submit', async (event) => {
  event.preventDefault();
  find('status').textContent = 'One moment …';
  try {
    const [email, password] = [find('email').value, find('password').value];
    const back = location.pathname.endsWith('/auth/sign-in') ? {} : { return_to: location.pathname + location.search };
    const asked = new URLSearchParams(location.search).get('return_to');
    if (location.pathname.endsWith('/auth/sign-in') && asked) back.return_to = asked;
    const body = JSON.stringify(password === '' ? { email, ...back } : { email, password });
    const reply = await fetch('/v1/auth/login', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    const found = await reply.clone().json();
    if (reply.ok && found.url) return location.assign(found.url);
    if (reply.ok) return location.reload();
    find('status').textContent = (await reply.json()).data.message;
  } catch { find('status').textContent = 'The service cannot be reached. Please try again.'; }
});`;

/**
 * Returns a page that asks for e-mail and password, and then loads the address of the request again. Without a password it goes to the
 * identity provider of the e-mail.
 */
export function signInPage(): RawReply {
  const body = `<form id="form">
<label>E-mail <input id="email" type="email" autocomplete="username" required></label>
<label>Password, empty for single sign-on <input id="password" type="password" autocomplete="current-password"></label>
<button>Sign in</button>
</form>
<p id="status" role="status"></p>
<noscript>This page needs JavaScript.</noscript>`;
  return pageReply({ title: 'Sign in', body, script });
}
