import { pageReply } from '../http/page.ts';
import type { RawReply } from '../http/raw-reply.ts';

const script = `'use strict';
const find = (id) => document.getElementById(id);
find('form').addEventListener('submit', async (event) => {
  event.preventDefault();
  find('status').textContent = 'One moment …';
  try {
    const body = JSON.stringify({ email: find('email').value, password: find('password').value });
    const reply = await fetch('/v1/auth/login', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    if (reply.ok) return location.reload();
    find('status').textContent = (await reply.json()).data.message;
  } catch { find('status').textContent = 'The service cannot be reached. Please try again.'; }
});`;

/** Returns a page that asks for e-mail and password, and then loads the address of the request again. */
export function signInPage(): RawReply {
  const body = `<form id="form">
<label>E-mail <input id="email" type="email" autocomplete="username" required></label>
<label>Password <input id="password" type="password" autocomplete="current-password" required></label>
<button>Sign in</button>
</form>
<p id="status" role="status"></p>
<noscript>This page needs JavaScript.</noscript>`;
  return pageReply({ title: 'Sign in', body, script });
}
