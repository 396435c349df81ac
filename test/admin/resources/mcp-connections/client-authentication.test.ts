import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browse } from '../../../support/tool-servers/oauth-upstream.ts';
import { type OAuthPlane, startOAuthPlane } from '../../support/oauth-plane.ts';
import { newPerson, type Person } from '../../support/people.ts';
import { ruleDatabase } from '../../support/test-database.ts';

const tokens = { access_token: 'a', token_type: 'Bearer', refresh_token: 'r', expires_in: 600 };

describe('the gateway as a client of an authorisation server of the Python SDK', () => {
  let oauth: OAuthPlane;
  let ada: Person;
  /** Authentication methods in the registrations, in their order. */
  const registered: string[] = [];
  /** Authentication methods in the metadata. */
  let supported: readonly string[] = [];
  /** True if the reply to a registration names the method. */
  let states = true;
  beforeAll(async () => {
    oauth = await startOAuthPlane(ruleDatabase);
    ada = await newPerson(oauth.plane, 'member', [{ id: oauth.plane.workspaceId, role: 'member' }]);
    oauth.upstream.intercept = (request, response) => replyLikePython(request, response);
  });
  afterAll(() => oauth?.close());

  /** Replies as `mcp` 2.3.0, which reads the id of the client from the body only. */
  async function replyLikePython(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const send = (status: number, body: object): true => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      return true;
    };
    if (request.url?.startsWith('/.well-known/')) {
      const { issuer } = oauth.upstream;
      const endpoints = { registration_endpoint: `${issuer}/reg`, token_endpoint: `${issuer}/token` };
      return send(200, {
        ...{ issuer, authorization_endpoint: `${issuer}/auth`, ...endpoints },
        ...{ code_challenge_methods_supported: ['S256'], token_endpoint_auth_methods_supported: supported },
      });
    }
    if (request.url === '/reg') {
      const { token_endpoint_auth_method: method, ...others } = JSON.parse(await text(request));
      registered.push(method);
      return send(201, {
        ...{ ...others, client_id: 'registered', client_secret: 's3cret' },
        ...(states ? { token_endpoint_auth_method: method } : {}),
      });
    }
    if (request.url !== '/token') return false;
    const body = new URLSearchParams(await text(request));
    const isKnown = body.get('client_id') !== null && body.get('client_secret') === 's3cret';
    return isKnown ? send(200, tokens) : send(401, { error: 'invalid_client', error_description: 'Missing client_id' });
  }

  /** Begins an authorisation, and returns with a code. */
  async function connect(server: string) {
    const cookie = { svc_session: ada.token };
    const begun = await browse(`${oauth.plane.url}/v1/oauth/connect/${server}`, cookie, (next) => next.includes('client_id='));
    const { searchParams } = new URL(begun.address);
    const back = new URL(searchParams.get('redirect_uri') as string);
    back.searchParams.set('code', 'c');
    back.searchParams.set('state', searchParams.get('state') as string);
    return browse(back.href, cookie);
  }

  it.each([true, false])('registers to send its secret in the body; the reply names the method: %s', async (isStated) => {
    supported = ['client_secret_post', 'client_secret_basic'];
    states = isStated;
    const server = await oauth.addServer(`python-${isStated}`, {});
    const done = await connect(server);
    expect([done.status, done.text, registered.at(-1)]).toEqual([
      200,
      expect.stringContaining('is connected'),
      'client_secret_post',
    ]);
    await oauth.expire(server, ada.id);
    expect((await oauth.tokenFor(server, ada.id)).state).toBe('connected');
  });

  it('registers to send its secret with Basic at servers that support nothing else', async () => {
    supported = ['client_secret_basic', 'private_key_jwt'];
    states = true;
    const done = await connect(await oauth.addServer('basic', {}));
    expect([done.status, registered.at(-1)]).toEqual([502, 'client_secret_basic']);
  });

  it('names the setting that chooses the method of a client in the settings', async () => {
    supported = ['client_secret_post', 'client_secret_basic'];
    const client = { client_id: 'own', client_secret: 's3cret' };
    const failed = await connect(await oauth.addServer('own', { configurations: { oauth_metadata: client } }));
    expect([failed.status, failed.text]).toEqual([
      502,
      expect.stringContaining('Check client_id, client_secret and token_endpoint_auth_method in configurations.oauth_metadata'),
    ]);
    const chosen = { ...client, token_endpoint_auth_method: 'client_secret_post' };
    const done = await connect(await oauth.addServer('chosen', { configurations: { oauth_metadata: chosen } }));
    expect(done.status).toBe(200);
  });
});
