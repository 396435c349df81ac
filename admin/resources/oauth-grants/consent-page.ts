import { html } from 'hono/html';
import type { RawReply } from '../../http/reply/raw-reply.ts';
import { hidden, routePage } from '../../pages/layout.ts';
import type { Choice } from './authorisation-request.ts';
import type { Client } from './find-client.ts';
import { isLoopback } from './redirect-uris.ts';

interface Consent {
  readonly client: Client;
  readonly redirectUri: string;
  readonly choices: readonly Choice[];
  readonly email: string;
  readonly organisationId: string;
  readonly resumeState: string;
}

/** Returns the page on which the user decides. It shows hosts, because anyone can choose the name of a client. */
export function consentPage({ client, redirectUri, choices, email, organisationId, resumeState }: Consent): Promise<RawReply> {
  const redirect = new URL(redirectUri);
  const body = html`<dl>
<dt>Who asks</dt><dd>${client.host ?? 'A client that has registered itself. Its identity is not verified'}</dd>
${client.name === '' ? '' : html`<dt>Name that it states</dt><dd>${client.name}</dd>`}
<dt>Where the access is sent</dt><dd>${redirect.host}</dd>
<dt>You are</dt><dd>${email}</dd>
</dl>
${
  isLoopback(redirect)
    ? html`<p>The access goes to a program on the computer of this browser. Allow it only if you have just started that program.</p>`
    : ''
}
<form method="post" action="/v1/oauth/consent">
${hidden('resume_state', resumeState)}${hidden('organisation_id', organisationId)}
<label>It may call this MCP server for you, until you revoke it <select name="server_id">${choices.map(
    ({ server, workspaceName }) => html`<option value="${server.id}">${server.name} in ${workspaceName}</option>`,
  )}</select></label>
<p class="muted">Deny if you did not start this, or if you do not know these hosts.</p>
<p><button class="plain" name="decision" value="deny">Deny</button> <button name="decision" value="allow">Allow</button></p>
</form>`;
  return routePage({ title: 'Allow access to an MCP server?', body });
}

/**
 * Returns the page for a request that cannot be decided. `returnTo` reports the error to the client, if the user follows it: anyone can
 * register a client with any host, so a redirect without a decision could send users of this service to a host of an attacker.
 */
export function refusedPage(reason: string, status: RawReply['status'], returnTo?: string): Promise<RawReply> {
  const link = returnTo === undefined ? '' : html`<p><a href="${returnTo}">Return to ${new URL(returnTo).host}</a></p>`;
  return routePage({ title: 'Access cannot be given', body: html`<p role="alert">${reason}.</p>${link}`, status });
}

/** Returns the page that leads to the client. Browsers refuse a redirect of a form to another host. */
export function continuePage(redirectUri: string): Promise<RawReply> {
  return routePage({
    title: 'Continue to the application',
    continueTo: redirectUri,
    body: html`<p><a href="${redirectUri}">Continue to ${new URL(redirectUri).host}</a></p>`,
  });
}
