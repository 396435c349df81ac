import type { SharedGateway } from '../product/shared-gateway.ts';
import { browse, type OAuthUpstream } from '../tool-servers/oauth-upstream.ts';

export interface McpUser {
  readonly id: string;
  /** API key of the user. */
  readonly key: string;
  /** Session of a browser. */
  readonly cookie: string;
}

/** Adds a user to the workspace, who signs in with a browser and has an API key. */
export async function newMcpUser(gateway: SharedGateway, email: string): Promise<McpUser> {
  const password = 'correct horse battery staple';
  const sent = { email, role: 'member', workspaces: [{ id: gateway.workspaceId, role: 'member' }] };
  const invited = await gateway.admin.post('/admin/users/invites', sent);
  const token = new URL(invited.body.invite_link).hash.replace('#accept-invite=', '');
  const reply = await fetch(`${gateway.baseUrl}/auth/invites/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: gateway.origin },
    body: JSON.stringify({ token, password }),
  });
  const cookie = /svc_session=([^;]+)/.exec(reply.headers.get('set-cookie') ?? '')?.[1] as string;
  const users = (await gateway.admin.get(`/admin/users?email=${encodeURIComponent(email)}`)).body.data;
  const id = users.find((one: { email: string }) => one.email === email).id;
  const made = await gateway.admin.post('/api-keys/workspace/user', {
    ...{ name: email, user_id: id, workspace_id: gateway.workspaceId, scopes: ['mcp.invoke'] },
  });
  return { id, key: made.body.key, cookie };
}

/** Connects an account of the upstream to the user with a browser. `url`: the address of the error `oauth_required`. */
export async function connectAccount(
  gateway: SharedGateway,
  upstream: OAuthUpstream,
  { user, account, url }: { readonly user: McpUser; readonly account: string; readonly url: string },
): Promise<void> {
  upstream.account = account;
  const cookies = { svc_session: user.cookie };
  const begin = await browse(`${gateway.origin}${new URL(url).pathname}`, cookies, (next) =>
    next.includes('/oauth/upstream-callback?'),
  );
  const { pathname, search } = new URL(begin.address);
  const done = await browse(`${gateway.origin}${pathname}${search}`, cookies);
  if (done.status !== 200 || !done.text.includes('is connected')) throw new Error(`not connected: ${done.status} ${done.text}`);
}
