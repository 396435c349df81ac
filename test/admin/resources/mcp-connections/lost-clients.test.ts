import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browse } from '../../../support/tool-servers/oauth-upstream.ts';
import { type OAuthPlane, startOAuthPlane } from '../../support/oauth-plane.ts';
import { newPerson, type Person } from '../../support/people.ts';
import { ruleDatabase } from '../../support/test-database.ts';

describe('the gateway as a client that an authorisation server no longer accepts', () => {
  let oauth: OAuthPlane;
  let ada: Person;
  beforeAll(async () => {
    oauth = await startOAuthPlane(ruleDatabase);
    ada = await newPerson(oauth.plane, 'member', [{ id: oauth.plane.workspaceId, role: 'member' }]);
  });
  afterAll(() => oauth?.close());

  const connectUrl = (server: string) => `${oauth.plane.url}/v1/oauth/connect/${server}`;
  const cookie = () => ({ svc_session: ada.token });
  /** The client with which an authorisation begins. */
  const clientOf = async (server: string) => {
    const { address } = await browse(connectUrl(server), cookie(), (next) => next.includes('client_id='));
    return new URL(address).searchParams.get('client_id');
  };
  /** Replies to requests for tokens, and returns the credentials of the last one. */
  const replyWith = (status: number, headers: Record<string, string>, body: object) => {
    const seen = { authorization: '' };
    oauth.upstream.intercept = (request, response) => {
      if (request.url !== '/token') return false;
      seen.authorization = String(request.headers.authorization);
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
      return true;
    };
    return seen;
  };

  it.each([
    ['invalid_client', 400, {}],
    ['a challenge', 401, { 'www-authenticate': 'Basic realm="token"' }],
  ])('registers again after %s, and its users connect again', async (name, status, headers) => {
    const server = await oauth.addServer(`registered-${status}`, {});
    expect((await browse(connectUrl(server), cookie())).status).toBe(200);
    const client = await clientOf(server);
    await oauth.expire(server, ada.id);
    replyWith(status, headers, { error: 'invalid_client' });
    expect(await oauth.tokenFor(server, ada.id), name).toEqual({ state: 'required', url: connectUrl(server) });
    oauth.upstream.intercept = null;
    expect(await clientOf(server)).not.toBe(client);
    expect((await browse(connectUrl(server), cookie())).status).toBe(200);
    expect((await oauth.tokenFor(server, ada.id)).state).toBe('connected');
  });

  it('registers again after a code was refused', async () => {
    const server = await oauth.addServer('registered-code', {});
    const client = await clientOf(server);
    replyWith(401, {}, { error: 'invalid_client' });
    const failed = await browse(connectUrl(server), cookie());
    expect([failed.status, failed.text]).toEqual([502, expect.stringContaining('invalid_client')]);
    oauth.upstream.intercept = null;
    expect(await clientOf(server)).not.toBe(client);
  });

  it('refreshes with the current secret of an integration, and keeps the connection if it is wrong', async () => {
    const fields = { oauth_metadata: { client_id: 'own', client_secret: 'before' } };
    const server = await oauth.addServer('rotated', { configurations: fields });
    const tokens = { access_token: 'a', token_type: 'Bearer', refresh_token: 'r', expires_in: 600 };
    const { address } = await browse(connectUrl(server), cookie(), (next) => next.includes('client_id='));
    const seen = replyWith(200, {}, tokens);
    const { searchParams } = new URL(address);
    const back = new URL(searchParams.get('redirect_uri') as string);
    for (const [key, value] of [
      ['code', 'c'],
      ['state', searchParams.get('state')],
      ['iss', oauth.upstream.issuer],
    ] as const) {
      back.searchParams.set(key, value as string);
    }
    expect((await browse(back.href, cookie())).status).toBe(200);
    const item = `/mcp-integrations/rotated?workspace_id=${oauth.plane.workspaceId}`;
    const rotated = { oauth_metadata: { client_id: 'own', client_secret: 'after' } };
    expect((await oauth.plane.ask('PUT', item, { body: { configurations: rotated } })).status).toBe(200);
    await oauth.expire(server, ada.id);
    expect((await oauth.tokenFor(server, ada.id)).state).toBe('connected');
    expect(Buffer.from(seen.authorization.replace('Basic ', ''), 'base64').toString()).toBe('own:after');
    await oauth.expire(server, ada.id);
    replyWith(401, {}, { error: 'invalid_client' });
    expect(await oauth.tokenFor(server, ada.id)).toMatchObject({
      state: 'failed',
      message: expect.stringMatching(
        /invalid_client.*client_id, client_secret and token_endpoint_auth_method in configurations\.oauth_metadata/,
      ),
    });
    const other = { oauth_metadata: { client_id: 'another', client_secret: 'after' } };
    expect((await oauth.plane.ask('PUT', item, { body: { configurations: other } })).status).toBe(200);
    expect(await oauth.tokenFor(server, ada.id)).toEqual({ state: 'required', url: connectUrl(server) });
    oauth.upstream.intercept = null;
  });
});
