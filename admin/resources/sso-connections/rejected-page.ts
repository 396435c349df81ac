import { html } from 'hono/html';
import type { RawReply } from '../../http/reply/raw-reply.ts';
import { pagesRoot, routePage } from '../../pages/layout.ts';
import type { SignInRefusal } from '../../sign-in/refusal.ts';

/** Returns the page with the reason for a rejected sign-in or logout. */
export function rejectedPage({ message, status }: SignInRefusal, title = 'The sign-in was rejected'): Promise<RawReply> {
  const body = html`<p role="alert">${message}.</p><p><a href="${pagesRoot}sign-in">Sign in again</a></p>`;
  return routePage({ title, body, status: status === 503 ? 503 : 401 });
}
