import { html } from 'hono/html';
import { RawReply } from '../http/reply/raw-reply.ts';
import { type AssetName, assetPath } from './assets.ts';

/** HTML that is safe to insert: made by the template tag, which escapes all values. */
export type Html = ReturnType<typeof html>;

export interface Page {
  readonly title: string;
  readonly body: Html;
  readonly scripts?: readonly AssetName[];
  readonly status?: RawReply['status'];
  /** Path of the other pages; empty: they are siblings of this page. */
  readonly root?: string;
  /** Opened at once, in addition to the link on the page. */
  readonly continueTo?: string;
}

/**
 * Scripts and styles come from files of this service, never from the page itself. The pages load nothing from other hosts, cannot be
 * framed, and their forms post only to this service.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Path of the pages for routes elsewhere. */
export const pagesRoot = '/v1/auth/';

/** Returns a complete page. */
export async function pageReply({ title, body, scripts = [], status = 200, root = '', continueTo }: Page): Promise<Response> {
  const text = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
${continueTo === undefined ? '' : html`<meta http-equiv="refresh" content="0;url=${continueTo}">`}
<title>${title}</title>
<link rel="stylesheet" href="${root}${assetPath('pages.css')}">
</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
${scripts.map((name) => html`<script src="${root}${assetPath(name)}" defer></script>`)}
</body>
</html>
`;
  return new Response(String(text), {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': policy,
      // With "no-referrer" browsers send "Origin: null" with forms, and the service could not recognise its own pages.
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    },
  });
}

/** Returns a complete page as the reply of a route. */
export async function routePage(page: Omit<Page, 'root'>): Promise<RawReply> {
  const reply = await pageReply({ root: pagesRoot, ...page });
  return new RawReply(await reply.text(), Object.fromEntries(reply.headers), page.status);
}

/** A redirect to another page after a form was processed, so that a reload does not send the form again. */
export function redirectReply(location: string, cookies: readonly string[] = []): Response {
  const headers = new Headers({ location, 'cache-control': 'no-store' });
  for (const cookie of cookies) headers.append('set-cookie', cookie);
  return new Response(null, { status: 303, headers });
}

/** The message about a failed form, announced by screen readers. */
export function alertOf(message: string | null): Html | '' {
  return message === null ? '' : html`<p role="alert">${message}</p>`;
}

/** Labelled text field. */
export function field(label: string, name: string, attributes: Readonly<Record<string, string | boolean>>): Html {
  const all = { type: 'text', required: true, ...attributes };
  const list = Object.entries(all).flatMap(([key, value]) => {
    if (value === false) return [];
    return value === true ? [html` ${key}`] : [html` ${key}="${value}"`];
  });
  return html`<label>${label} <input name="${name}"${list}></label>`;
}

export function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

export function passwordField(label = 'Password'): Html {
  return field(label, 'current_password', { type: 'password', autocomplete: 'current-password', maxlength: '256' });
}

export function newPasswordField(name: string): Html {
  const limits = { minlength: '12', maxlength: '256' };
  return field('New password, at least 12 characters', name, { type: 'password', autocomplete: 'new-password', ...limits });
}

export function codeField(): Html {
  const attributes = { inputmode: 'numeric', autocomplete: 'one-time-code', pattern: '[0-9 ]{6,7}', maxlength: '7' };
  return field('Code of six digits', 'passcode', attributes);
}
