import { html } from 'hono/html';
import type { AdminError } from '../../http/errors.ts';
import type { RawReply } from '../../http/reply/raw-reply.ts';
import { pagesRoot, routePage } from '../../pages/layout.ts';
import { type RefusalReason, SignInRefusal } from '../../sign-in/refusal.ts';

/** Returns the page with the reason for a rejected sign-in. */
export const rejectedSignIn = (error: AdminError): Promise<RawReply> => rejectedPage('The sign-in was rejected', error);

/** Returns the page with the reason for a rejected logout. */
export const rejectedLogout = (error: AdminError): Promise<RawReply> => rejectedPage('The logout was rejected', error);

/** Rejections of one account. Its session at the provider would lead to the same rejection at every further sign-in. */
const ofAccount: ReadonlySet<RefusalReason> = new Set([
  ...(['email_missing', 'email_unverified', 'domain_unverified', 'domain_not_allowed'] as const),
  ...(['identity_conflict', 'no_group', 'provisioning_disabled', 'user_deactivated'] as const),
]);

/** Errors of a field begin with its name, which comes from the request: a link could write its own sentences on the page. */
const fieldError = /^[\w-]{1,32}: /;

function rejectedPage(title: string, error: AdminError): Promise<RawReply> {
  const { code, message } = error;
  const isOfAccount = error instanceof SignInRefusal && ofAccount.has(error.reason);
  const hint = isOfAccount ? html`<p>To use another account, sign out at your identity provider first.</p>` : '';
  const shown = code === 'AB01' && !fieldError.test(message) ? 'The request is not valid' : message;
  const body = html`<p role="alert">${shown}.</p>${hint}<p><a href="${pagesRoot}sign-in">Sign in again</a></p>`;
  return routePage({ title, body });
}
