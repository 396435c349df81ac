import { html } from 'hono/html';
import { hidden, pageReply } from './layout.ts';

/** A client that asks for access on behalf of the signed-in user. */
export interface ConsentRequest {
  /** Chosen by the client, so the page shows the hosts beside it. */
  readonly clientName: string;
  /** Host of the client's own page; null: unknown. */
  readonly clientHost: string | null;
  /** Host that receives the authorisation code. */
  readonly redirectHost: string;
  readonly user: string;
  /** Sentences such as "Call the tools of github". */
  readonly scopes: readonly string[];
  /** Address of the form, relative to the page. It receives `decision` (`allow` or `deny`) and these fields. */
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** Asks the user to allow or deny the access of a client. */
export function consentPage(sent: ConsentRequest): Promise<Response> {
  const body = html`<p><strong>${sent.clientName}</strong> asks for access to your account ${sent.user}.</p>
<dl>
<dt>Application</dt><dd>${sent.clientHost ?? 'Its host is unknown'}</dd>
<dt>The access goes to</dt><dd>${sent.redirectHost}</dd>
</dl>
<h2>It could then</h2>
<ul>${sent.scopes.map((one) => html`<li>${one}</li>`)}</ul>
<p class="muted">Deny if you did not start this, or if you do not know these hosts.</p>
<form method="post" action="${sent.action}">
${Object.entries(sent.fields).map(([name, value]) => hidden(name, value))}
<p><button class="plain" name="decision" value="deny">Deny</button> <button name="decision" value="allow">Allow</button></p>
</form>`;
  return pageReply({ title: 'Allow access?', body });
}
