import { createHash } from 'node:crypto';

/**
 * Serves the page behind the links in mails and replies. It asks for the input of the link and posts it. It is self-contained, so
 * that it works everywhere the service does, and cannot be framed.
 */
export function linkPage(): Response {
  return new Response(html, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': policy,
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    },
  });
}

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:4rem auto;padding:0 1rem;color:#222}
label{display:block;margin:1rem 0}input{display:block;width:100%;box-sizing:border-box;padding:.5rem;font:inherit}
button{padding:.5rem 1rem;font:inherit}p[role=status]{min-height:1.5em}`;

const script = `'use strict';
const [, kind, token] = /^#(accept-invite|set-password|verify-email)=([A-Za-z0-9_-]+)$/.exec(location.hash) || [];
history.replaceState(null, '', location.pathname);
const about = {
  'accept-invite': { title: 'Accept the invitation', route: 'invites/accept', done: 'Welcome. You are signed in.' },
  'set-password': { title: 'Set a new password', route: 'password/reset', done: 'The password is set. You can sign in with it.' },
  'verify-email': { title: 'Confirm your e-mail', route: 'verify-email', done: 'Thank you. Your e-mail is confirmed.' },
}[kind];
const find = (id) => document.getElementById(id);
const say = (text) => { find('status').textContent = text; };
if (!about) {
  say('This link is not complete. Please copy all of it.');
} else {
  document.title = find('title').textContent = about.title;
  for (const part of document.querySelectorAll('[data-for]')) part.hidden = !part.dataset.for.split(' ').includes(kind);
  find('form').hidden = false;
  find('form').addEventListener('submit', async (event) => {
    event.preventDefault();
    const body = { token };
    if (kind !== 'verify-email') body.password = find('password').value;
    if (kind === 'accept-invite') Object.assign(body, { first_name: find('first').value || null, last_name: find('last').value || null });
    say('One moment …');
    try {
      const reply = await fetch(about.route, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
      if (reply.ok) { find('form').hidden = true; return say(about.done); }
      say((await reply.json()).data.message);
    } catch { say('The service cannot be reached. Please try again.'); }
  });
}`;

const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>Account</title>
<style>${style}</style>
<h1 id="title">Account</h1>
<form id="form" hidden>
<label data-for="accept-invite">First name <input id="first" autocomplete="given-name" maxlength="128"></label>
<label data-for="accept-invite">Last name <input id="last" autocomplete="family-name" maxlength="128"></label>
<label data-for="accept-invite set-password">Password, at least 12 characters <input id="password" type="password" autocomplete="new-password" minlength="12" maxlength="256"></label>
<button>Continue</button>
</form>
<p id="status" role="status"></p>
<noscript>This page needs JavaScript.</noscript>
<script>${script}</script>
</html>
`;

const hashSource = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const policy = [
  "default-src 'none'",
  `script-src ${hashSource(script)}`,
  `style-src ${hashSource(style)}`,
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');
