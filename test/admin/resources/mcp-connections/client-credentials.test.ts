import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mcpConnections } from '../../../../admin/resources/mcp-connections/entity.ts';
import { createTokenService } from '../../../../admin/resources/mcp-connections/serve-tokens.ts';
import { newGate } from '../../../support/gate.ts';
import type { OAuthUpstream } from '../../../support/tool-servers/oauth-upstream.ts';
import { machine, type OAuthPlane, startOAuthPlane } from '../../support/oauth-plane.ts';
import { newPerson, type Person } from '../../support/people.ts';
import type { Plane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('client credentials, with many callers and processes, on %s', (database) => {
  let oauth: OAuthPlane;
  let plane: Plane;
  let upstream: OAuthUpstream;
  let ada: Person;
  let bob: Person;
  beforeAll(async () => {
    oauth = await startOAuthPlane(database);
    ({ plane, upstream } = oauth);
    const places = [{ id: plane.workspaceId, role: 'member' as const }];
    [ada, bob] = [await newPerson(plane, 'member', places), await newPerson(plane, 'member', places)];
  });
  afterAll(() => oauth?.close());

  const tokenFor = (userId: string | null, rejected: string | null, of: string, scope?: string) =>
    oauth.tokenFor(of, userId, rejected, scope);
  const scopesOf = async (document: Parameters<OAuthPlane['plain']>[0]) =>
    (await upstream.scopeOf(oauth.plain(document)))?.split(' ').sort();
  const addMachineServer = (slug: string) =>
    oauth.addServer(slug, { auth_type: 'oauth_client_credentials', configurations: { oauth_metadata: machine } });

  it('client credentials: a token for a demanded scope was requested with it, also if another token has replaced the rejected one', async () => {
    const of = await addMachineServer('replaced-token');
    const first = (await tokenFor(null, null, of)).document;
    const second = (await tokenFor(null, first.tokenId, of)).document;
    expect(second.tokenId).not.toBe(first.tokenId);
    const wider = (await tokenFor(null, first.tokenId, of, 'admin')).document;
    expect(await scopesOf(wider)).toEqual(['admin', 'mcp']);
    await oauth.expire(of, null);
    const renewed = (await tokenFor(null, first.tokenId, of, 'admin')).document;
    expect([renewed.tokenId === wider.tokenId, await scopesOf(renewed)]).toEqual([false, ['admin', 'mcp']]);
  });

  it('client credentials: calls of a server that rejects every token cause one request in ten seconds', async () => {
    const of = await addMachineServer('rejects-all');
    const before = upstream.tokenRequests.length;
    let { tokenId } = (await tokenFor(null, null, of)).document;
    tokenId = (await tokenFor(null, tokenId, of)).document.tokenId;
    for (const caller of [ada.id, null, bob.id]) {
      expect(await tokenFor(caller, tokenId, of)).toEqual({
        state: 'failed',
        message: `the MCP server rejects the token that the authorisation server ${upstream.issuer} has just issued`,
      });
    }
    expect(upstream.tokenRequests.length - before).toBe(2);
    await plane.control.services.database
      .em()
      .nativeUpdate(mcpConnections, { serverId: of }, { lastUpdatedAt: new Date(Date.now() - 10_000) });
    const later = await tokenFor(null, tokenId, of);
    expect([later.state, later.document?.tokenId === tokenId]).toEqual(['connected', false]);
    expect((await tokenFor(null, later.document.tokenId, of)).state).toBe('failed');
    expect(upstream.tokenRequests.length - before).toBe(3);
  });

  it('client credentials: a token that lives for 20 s is used for several calls, and renewed if it is rejected at its end', async () => {
    const of = await addMachineServer('short-lived');
    const before = upstream.tokenRequests.length;
    const { document: first } = await tokenFor(null, null, of);
    const { database } = plane.control.services;
    const age = (issuedMs: number, endsMs: number) => {
      const [lastUpdatedAt, expiresAt] = [new Date(Date.now() - issuedMs), new Date(Date.now() + endsMs)];
      const change = { createdAt: new Date(Date.now() - 60_000), lastUpdatedAt, expiresAt };
      return database.em().nativeUpdate(mcpConnections, { serverId: of }, change);
    };
    await age(5_000, 15_000);
    const again = (await tokenFor(ada.id, null, of)).document;
    expect([again.tokenId, Date.parse(again.expiresAt) - Date.parse(again.issuedAt)]).toEqual([
      first.tokenId,
      expect.closeTo(20_000, -2),
    ]);
    expect(upstream.tokenRequests.length - before).toBe(1);
    await age(7_000, 500);
    expect((await tokenFor(null, first.tokenId, of)).document.tokenId).not.toBe(first.tokenId);
    expect(upstream.tokenRequests.length - before).toBe(2);
  });

  it('client credentials: a failed request for a token is repeated after one second, or when the integration changes', async () => {
    const of = await addMachineServer('no-token');
    const before = upstream.tokenRequests.length;
    let elapsedMs = 0;
    let attempts = 0;
    upstream.intercept = ({ url }, reply) => {
      if (url !== '/token') return false;
      attempts += 1;
      reply.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"unauthorized_client"}');
      return true;
    };
    const { services } = plane.control;
    const clock = { ...services.clock, now: () => Date.now(), elapsed: () => elapsedMs };
    const ask = createTokenService({ ...services, clock });
    const stateFor = async (userId: string | null) => (await ask({ serverId: of, userId, rejected: null })).state;
    expect([await stateFor(null), await stateFor(ada.id), await stateFor(bob.id), attempts]).toEqual([
      ...['failed', 'failed', 'failed'],
      1,
    ]);
    elapsedMs = 1_000;
    expect([await stateFor(null), attempts]).toEqual(['failed', 2]);
    upstream.intercept = null;
    expect([await stateFor(null), upstream.tokenRequests.length - before]).toEqual(['failed', 0]);
    expect((await plane.ask('PUT', '/mcp-integrations/no-token', { body: { name: 'Other' } })).status).toBe(200);
    expect([await stateFor(null), upstream.tokenRequests.length - before]).toEqual(['connected', 1]);
  });

  it('client credentials: concurrent first questions of one process cause one request', async () => {
    const of = await addMachineServer('one-request');
    const requests = upstream.tokenRequests.length;
    const { services } = plane.control;
    let looks = 0;
    const allLooked = newGate();
    const em = () => {
      const made = services.database.em();
      const findOne = made.findOne.bind(made) as (...given: unknown[]) => Promise<unknown>;
      const counted = async (...given: unknown[]) => {
        const found = await findOne(...given);
        if (given[0] === mcpConnections && ++looks === 3) allLooked.open();
        return found;
      };
      return Object.assign(made, { findOne: counted });
    };
    upstream.intercept = async ({ url }) => {
      if (url === '/token') await allLooked.opened;
      return false;
    };
    const ask = createTokenService({ ...services, database: { ...services.database, em } });
    const replies = await Promise.all([ada.id, bob.id, null].map((userId) => ask({ serverId: of, userId, rejected: null })));
    upstream.intercept = null;
    const ids = replies.map((reply) => (reply.state === 'connected' ? reply.document.tokenId : reply));
    expect(ids).toEqual([expect.any(String), ids[0], ids[0]]);
    expect(upstream.tokenRequests.length - requests).toBe(1);
  });

  it('client credentials: two processes that obtain a token at once return the same one', async () => {
    const of = await addMachineServer('two-processes');
    const [bothAsk, oneReplied] = [newGate(), newGate()];
    let requests = 0;
    upstream.intercept = async (request) => {
      if (request.url !== '/token') return false;
      const isSecond = ++requests === 2;
      if (isSecond) bothAsk.open();
      await (isSecond ? oneReplied : bothAsk).opened;
      return false;
    };
    const asked = [0, 1].map(() => createTokenService(plane.control.services)({ serverId: of, userId: null, rejected: null }));
    void Promise.race(asked).then(() => oneReplied.open());
    const replies = await Promise.all(asked);
    upstream.intercept = null;
    const ids = replies.map((reply) => (reply.state === 'connected' ? reply.document.tokenId : reply));
    expect(ids).toEqual([expect.any(String), ids[0]]);
    expect((await tokenFor(null, null, of)).document.tokenId).toBe(ids[0]);
  });
});
