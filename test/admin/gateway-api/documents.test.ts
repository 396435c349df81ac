import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../admin/db/new-id.ts';
import { outbox } from '../../../admin/publish/entity.ts';
import { storeNewTokens } from '../../../admin/resources/mcp-connections/store-tokens.ts';
import { oauthGrants } from '../../../admin/resources/oauth-grants/entity.ts';
import { type DocumentKind, documentSchemas } from '../../../core/contract/protocol/documents.ts';
import { changesReply, documentReply, keysReply } from '../../../core/contract/protocol/internal-api.ts';
import { parseApiKey } from '../../../core/contract/values/credentials/api-key.ts';
import { newPerson } from '../support/people.ts';
import type { Plane } from '../support/plane.ts';
import { startPlaneWithGateway } from '../support/plane-gateway.ts';
import { databases } from '../support/test-database.ts';

describe.each(databases)('documents and changes for gateways, on %s', (database) => {
  let plane: Plane;
  let guardrailSlug: string;
  let promptSlug: string;
  let partialSlug: string;
  let mcpServerId: string;
  let grantId: string;
  beforeAll(async () => {
    plane = await startPlaneWithGateway(database);
    const guardrail = { name: 'G', workspace_id: plane.workspaceId, checks: [{ id: 'default.notNull' }] };
    guardrailSlug = (await plane.ask('POST', '/guardrails', { body: guardrail })).body.slug;
    const prompt = { name: 'P', string: 'Hello {{name}}', parameters: {} };
    promptSlug = (await plane.ask('POST', '/prompts', { body: prompt })).body.slug;
    partialSlug = (await plane.ask('POST', '/prompts/partials', { body: { name: 'P', string: 'Hello' } })).body.slug;
    const mcp = { name: 'M', slug: 'm', url: 'https://mcp.example.com/mcp', auth_type: 'none', transport: 'http' };
    const { id } = (await plane.ask('POST', '/mcp-integrations', { body: { ...mcp, workspace_id: plane.workspaceId } })).body;
    const server = { name: 'M', slug: 'mcp-one', mcp_integration_id: id };
    mcpServerId = (await plane.ask('POST', '/mcp-servers', { body: server })).body.id;
    await storeConnection(plane, mcpServerId);
    const agent = { name: 'A', url: 'https://agent.example.com', auth_type: 'none', workspace_id: plane.workspaceId };
    const { slug } = (await plane.ask('POST', '/agent-integrations', { body: agent })).body;
    await plane.ask('POST', '/agent-servers', { body: { name: 'A', slug: 'agent-one', agent_integration_id: slug } });
    grantId = await storeGrant(plane, mcpServerId);
    const jwt = { jwks_url: 'https://id.example.com/jwks' };
    await plane.ask('PUT', '/organisations/self/auth-settings', { body: { jwt } });
    await plane.ask('POST', '/configs', { body: { name: 'C', slug: 'c', config: { provider: '@mock' }, isDefault: 1 } });
  });
  afterAll(() => plane?.close());

  it('have every kind in the agreed shape, with a minimum revision', async () => {
    const ids: Record<DocumentKind, string> = {
      'api-key': parseApiKey(plane.workspaceKey)?.id ?? '',
      config: `${plane.workspaceId}/c`,
      provider: `${plane.workspaceId}/mock`,
      guardrail: `${plane.workspaceId}/${guardrailSlug}`,
      prompt: `${plane.workspaceId}/${promptSlug}`,
      'prompt-partial': `${plane.workspaceId}/${partialSlug}`,
      'mcp-server': `${plane.workspaceId}/mcp-one`,
      'mcp-connection': `${mcpServerId}/shared`,
      'agent-server': `${plane.workspaceId}/agent-one`,
      'signing-key': 'mcp',
      'oauth-grant': grantId,
      workspace: plane.workspaceId,
      'workspace-models': plane.workspaceId,
      'workspace-policies': plane.workspaceId,
      'workspace-name': `${plane.organisationId}/ws-default`,
      organisation: plane.organisationId,
      user: `${plane.organisationId}/nobody@example.com`,
    };
    const newest = (await plane.events()).at(-1)?.revision;
    for (const [kind, id] of Object.entries(ids)) {
      const reply = await plane.internal('GET', `/documents/${kind}/${encodeURIComponent(id)}`);
      expect(reply.status).toBe(200);
      const { revision, document } = v.parse(documentReply, reply.body);
      expect(revision).toBe(newest);
      expect(v.safeParse(documentSchemas[kind as DocumentKind], document).issues).toBeUndefined();
    }
    const workspace = await plane.internal('GET', `/documents/workspace/${plane.workspaceId}`);
    expect(workspace.body.document).toMatchObject({ slug: 'ws-default', defaultConfigSlug: 'c' });
    const mock = await plane.internal('GET', `/documents/provider/${plane.workspaceId}%2Fmock`);
    expect(mock.body.document).toMatchObject({ provider: 'mock', secrets: null, status: 'active' });
    const catalogue = await plane.internal('GET', `/documents/workspace-models/${plane.workspaceId}`);
    expect(catalogue.body.document.providers).toEqual([
      { slug: 'mock', provider: 'mock', models: [{ slug: 'echo', canonicalSlug: null, created: 0 }] },
    ]);
  });

  it('are null for unknown ids, however odd', async () => {
    const odd = [
      'api-key/AAAAAAAAAAAA',
      'config/x',
      'config/%2F',
      `provider/${plane.workspaceId}%2F${encodeURIComponent("' or 1=1")}`,
      'workspace/not-a-uuid',
      'workspace-models/not-a-uuid',
    ];
    for (const path of odd) {
      const reply = await plane.internal('GET', `/documents/${path}`);
      expect(reply.status, path).toBe(200);
      expect(reply.body.document).toBeNull();
    }
    expect((await plane.internal('GET', '/documents/secret/x')).status).toBe(400);
  });

  it('return many keys at once, in order, equal to single look-ups', async () => {
    const ids = [plane.workspaceKey, plane.adminKey].map((key) => parseApiKey(key)?.id ?? '');
    const alone = await Promise.all(ids.map((id) => plane.internal('GET', `/documents/api-key/${id}`)));
    const asked = ['AAAAAAAAAAAA', ids[1], "' or 1=1", ids[0], ids[1]];
    const reply = await plane.internal('POST', '/api-keys', { ids: asked });
    expect(reply.status).toBe(200);
    const [first, second] = alone.map(({ body }) => body.document);
    expect(v.parse(keysReply, reply.body)).toEqual({
      revision: alone[0]?.body.revision,
      documents: [null, second, null, first, second],
    });
    expect((await plane.internal('POST', '/api-keys', { ids: ['AAAAAAAAAAAA'] })).body.documents).toEqual([null]);
  });

  it.each([
    ['none', { ids: [] }],
    ['too many', { ids: Array.from({ length: 201 }, () => 'a') }],
    ['a number', { ids: [1] }],
    ['no list', {}],
  ])('documents for gateways: a request for %s keys is rejected by field', async (_what, body) => {
    const reply = await plane.internal('POST', '/api-keys', body);
    expect(reply.status).toBe(400);
    expect(JSON.stringify(reply.body)).toContain('ids');
  });

  it('require the cluster key', async () => {
    for (const key of [plane.adminKey, plane.workspaceKey, '', 'x', plane.settings.clusterKeyText.slice(1)]) {
      for (const path of ['/documents/workspace/x', '/changes?after=0', '/nothing']) {
        expect((await plane.internal('GET', path, undefined, key)).status).toBe(401);
      }
      expect((await plane.internal('POST', '/records', [], key)).status).toBe(401);
    }
  });

  it('include the changes after a revision, or a reset', async () => {
    const events = await plane.events();
    const all = v.parse(changesReply, (await plane.internal('GET', '/changes?after=0')).body);
    expect(all).toMatchObject({ revision: events.length, reset: false });
    expect(all.changes.map((one) => one.revision)).toEqual(events.map((one) => one.revision));
    const some = (await plane.internal('GET', `/changes?after=${events.length - 1}`)).body;
    expect(some.changes).toEqual([{ revision: events.length, kind: 'workspace', id: plane.workspaceId, op: 'upsert' }]);
    expect((await plane.internal('GET', `/changes?after=${events.length}`)).body).toEqual({
      revision: events.length,
      reset: false,
      changes: [],
      mark: all.mark,
    });
    expect((await plane.internal('GET', `/changes?after=${events.length + 1}`)).body).toEqual({
      revision: events.length,
      reset: true,
      changes: [],
      mark: all.mark,
    });
    expect((await plane.internal('GET', '/changes?after=-1')).status).toBe(400);

    // As after a failover to a standby that had not received the change: another one got its revision.
    const [at, before] = [events.length, events.length - 1];
    const earlier = v.parse(changesReply, (await plane.internal('GET', `/changes?after=${before}`)).body);
    expect(earlier.mark).toBe(all.mark);
    const asked = (after: number, mark: string) => plane.internal('GET', `/changes?after=${after}&mark=${mark}`);
    expect((await asked(at, `${all.mark}`)).body).toMatchObject({ reset: false });
    for (const after of [before, at])
      expect((await asked(after, 'lost')).body).toEqual({ revision: at, reset: true, changes: [], mark: all.mark });

    await plane.control.services.database.em().nativeDelete(outbox, { revision: { $lte: 2 } });
    expect((await plane.internal('GET', '/changes?after=1')).body).toMatchObject({ reset: true, changes: [] });
    expect((await plane.internal('GET', '/changes?after=2')).body).toMatchObject({ reset: false });
  });
});

/** Stores a token of all callers of the server. */
async function storeConnection({ control, organisationId, workspaceId }: Plane, serverId: string): Promise<void> {
  const { database, vault } = control.services;
  const client = { clientId: 'c', secret: null, method: 'none' as const };
  const url = 'https://mcp.example.com/mcp';
  const issuer = 'https://id.example.com';
  const secrets = { client, tokenEndpoint: `${issuer}/token`, resource: url, scope: null };
  const given = { organisationId, workspaceId, serverId, userId: null, url, issuer, secrets };
  const response = { access_token: 'a', token_type: 'bearer' as const };
  await database.em().transactional((tx) => storeNewTokens(tx, vault, { ...given, response }, Date.now()));
}

/** Stores the access of a client to the server, given by an admin. */
async function storeGrant(plane: Plane, serverId: string): Promise<string> {
  const { id: userId } = await newPerson(plane, 'admin');
  const { organisationId, workspaceId, control } = plane;
  const em = control.services.database.em();
  const id = newId();
  const later = new Date(Date.now() + 60_000);
  em.create(oauthGrants, {
    ...{ id, organisationId, workspaceId, serverId, userId, clientId: 'c', clientName: 'C', resource: 'r', redirectUri: 'u' },
    ...{ codeHash: 'h', codeChallenge: 'c', codeExpiresAt: later, status: 'active', generation: 1 },
    ...{ createdAt: later, lastUsedAt: later, expiresAt: later },
  });
  await em.flush();
  return id;
}
