import { createHash, randomBytes } from 'node:crypto';
import type { AdminClient } from '../clients/admin-client.ts';

/** One credential of a person, and a request with it. */
interface Credential {
  readonly what: 'API key' | 'session' | 'OAuth access token';
  /** Sends a request to a gateway. Returns the status of the reply: 401 for a refused credential. */
  statusAt(origin: string): Promise<number>;
}

/** A member of a workspace, with one credential of each kind. */
export interface PersonWithCredentials {
  readonly id: string;
  readonly email: string;
  readonly credentials: readonly Credential[];
}

/** The service as this person reaches it. `origin` is its public URL. */
interface Service {
  readonly admin: AdminClient;
  readonly origin: string;
  readonly workspaceId: string;
  /** Path of an MCP server of the workspace. */
  readonly mcpPath: string;
}

const json = { 'content-type': 'application/json' };
const redirectUri = 'http://127.0.0.1:9999/back';

/** Invites and signs in a person, creates an API key, and lets an OAuth client use an MCP server for them. */
export async function newPersonWithCredentials(service: Service, email: string): Promise<PersonWithCredentials> {
  const { admin, origin, workspaceId, mcpPath } = service;
  const workspaces = [{ id: workspaceId, role: 'member' }];
  const invited = await admin.post('/admin/users/invites', { email, role: 'member', workspaces });
  const token = new URL(invited.body.invite_link).hash.replace('#accept-invite=', '');
  const accepted = await fetch(`${origin}/v1/auth/invites/accept`, {
    method: 'POST',
    headers: { ...json, origin },
    body: JSON.stringify({ token, password: 'correct horse battery staple' }),
  });
  const cookie = /svc_session=[^;]+/.exec(accepted.headers.get('set-cookie') ?? '')?.[0];
  if (!cookie) throw new Error(`no session: ${accepted.status} ${await accepted.text()}`);
  const users = (await admin.get(`/admin/users?email=${encodeURIComponent(email)}`)).body.data;
  const { id } = users.find((one: { email: string }) => one.email === email);
  const scopes = ['completions.write', 'mcp.invoke'];
  const made = await admin.post('/api-keys/workspace/user', { name: email, user_id: id, workspace_id: workspaceId, scopes });
  const accessToken = await authorise(origin, cookie, mcpPath);
  const mcpCall = {
    method: 'POST',
    headers: { ...json, accept: 'application/json, text/event-stream', authorization: `Bearer ${accessToken}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  };
  return {
    id,
    email,
    credentials: [
      { what: 'API key', statusAt: (at) => statusOf(`${at}/v1/models`, { headers: { 'x-svc-api-key': made.body.key } }) },
      { what: 'session', statusAt: (at) => statusOf(`${at}/v1/auth/sessions`, { headers: { cookie } }) },
      { what: 'OAuth access token', statusAt: (at) => statusOf(`${at}${mcpPath}`, mcpCall) },
    ],
  };
}

async function statusOf(url: string, init: RequestInit): Promise<number> {
  const reply = await fetch(url, init);
  await reply.arrayBuffer();
  return reply.status;
}

/** The flow of an MCP client in the browser of the person. Returns an access token. */
async function authorise(origin: string, cookie: string, mcpPath: string): Promise<string> {
  const ask = async (path: string, init: RequestInit) =>
    (await (await fetch(`${origin}${path}`, init)).json()) as Record<string, string>;
  const post = (body: object, headers = {}) => ({
    ...{ method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) },
  });
  const { client_id = '' } = await ask('/oauth/register', post({ client_name: 'Client', redirect_uris: [redirectUri] }));
  const verifier = randomBytes(32).toString('base64url');
  const resource = `${origin}${mcpPath}`;
  const query = new URLSearchParams({
    ...{ client_id, redirect_uri: redirectUri, resource, response_type: 'code', code_challenge_method: 'S256' },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  });
  const page = await (await fetch(`${origin}/oauth/authorize?${query}`, { headers: { cookie } })).text();
  const resumeState = /name="resume_state" value="([^"]+)"/.exec(page)?.[1];
  const decided = await ask('/oauth/authorize', post({ approved: true, resume_state: resumeState }, { cookie, origin }));
  const code = new URL(decided.redirect_uri ?? '').searchParams.get('code') ?? '';
  const exchange = {
    grant_type: 'authorization_code',
    code,
    client_id,
    redirect_uri: redirectUri,
    code_verifier: verifier,
    resource,
  };
  const tokens = await ask('/oauth/token', { method: 'POST', body: new URLSearchParams(exchange) });
  if (!tokens.access_token) throw new Error(`no access token: ${JSON.stringify(tokens)}`);
  return tokens.access_token;
}
