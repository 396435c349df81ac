import { escapeHtml, pageReply } from '../../http/page.ts';
import type { RawReply } from '../../http/raw-reply.ts';
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

const script = `'use strict';
const form = document.getElementById('form');
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const status = document.getElementById('status');
  status.textContent = 'One moment …';
  const { resume_state, organisation_id, server_id } = Object.fromEntries(new FormData(form));
  const body = { approved: event.submitter.value === 'allow', resume_state, organisation_id, server_id };
  try {
    const reply = await fetch('/v1/oauth/authorize', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    const result = await reply.json();
    if (reply.ok) location.href = result.redirect_uri;
    else status.textContent = result.error_description || result.data.message;
  } catch { status.textContent = 'The service cannot be reached. Please try again.'; }
});`;

/** Returns the page on which the user decides. It shows hosts, because anyone can choose the name of a client. */
export function consentPage({ client, redirectUri, choices, email, organisationId, resumeState }: Consent): RawReply {
  const redirect = new URL(redirectUri);
  const who = client.host ?? 'a client that has registered itself. Its identity is not verified';
  const warning = isLoopback(redirect)
    ? '<p>The access goes to a program on the computer of this browser. Allow it only if you have just started that program.</p>'
    : '';
  const options = choices.map(
    ({ server, workspaceName }) => `<option value="${server.id}">${escapeHtml(`${server.name} in ${workspaceName}`)}</option>`,
  );
  const body = `<dl>
<dt>Who asks</dt><dd>${escapeHtml(who)}</dd>
${client.name === '' ? '' : `<dt>Name that it states</dt><dd>${escapeHtml(client.name)}</dd>`}
<dt>Where the access is sent</dt><dd>${escapeHtml(redirect.host)}</dd>
<dt>You are</dt><dd>${escapeHtml(email)}</dd>
</dl>
${warning}<form id="form">
<input type="hidden" name="resume_state" value="${escapeHtml(resumeState)}">
<input type="hidden" name="organisation_id" value="${organisationId}">
<label>It may call this MCP server for you, until you revoke it <select name="server_id">${options.join('')}</select></label>
<button value="allow">Allow</button> <button value="deny">Deny</button>
</form>
<p id="status" role="status"></p>
<noscript>This page needs JavaScript.</noscript>`;
  return pageReply({ title: 'Allow access to an MCP server?', body, script });
}
