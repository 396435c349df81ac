import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyPurposes } from '../../../../core/contract/protocol/credentials/key-purposes.ts';
import { deriveKey, unseal } from '../../../../core/contract/values/credentials/secret.ts';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import type { Plane } from '../../support/plane.ts';
import { startPlaneWithGateway } from '../../support/plane-gateway.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('credentials of partners, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlaneWithGateway(database);
  });
  afterAll(() => plane?.close());

  const create = (body: object) => plane.ask('POST', '/plugins', { body });
  const secret = 's3cret-of-the-partner-1234';

  it('are stored once per partner, sealed, and shown as masks', async () => {
    const reply = await expectChange(
      plane,
      () => create({ plugin_provider_id: 'pillar', name: 'Pillar', credentials: { apiKey: secret } }),
      { resource: 'plugins', action: 'create', events: [] },
    );
    expect(reply.body).toMatchObject({
      ...{ plugin_provider_id: 'pillar', plugin_provider_slug: 'pillar', integration_slug: 'pillar', name: 'Pillar' },
      ...{ status: 'active', credentials: { apiKey: '****1234' }, object: 'plugin' },
    });
    await expectRefusal(plane, () => create({ plugin_provider_id: 'pillar', credentials: { apiKey: 'x' } }), 409, 'AB07', true);
    const list = (await plane.ask('GET', '/plugins')).body;
    expect(list.data).toEqual([reply.body]);
    const rows = await plane.control.services.database.em().execute('select * from plugins');
    expect(JSON.stringify([rows, list, (await plane.ask('GET', '/audit-logs')).body])).not.toContain('s3cret');
  });

  it.each<[string, object, string]>([
    ['an unknown partner', { plugin_provider_id: 'acme', credentials: { apiKey: 'x' } }, 'plugin_provider_id: no check of acme'],
    [
      'checks of the service',
      { plugin_provider_id: 'default', credentials: { apiKey: 'x' } },
      'plugin_provider_id: no check of default',
    ],
    [
      'an unknown credential',
      { plugin_provider_id: 'lasso', credentials: { apiKey: 'x', y: 'x' } },
      'credentials.y: unknown key',
    ],
    [
      'a missing credential',
      { plugin_provider_id: 'lasso', credentials: { apiEndpoint: 'https://a.example' } },
      'credentials.apiKey: required',
    ],
    ['no credentials', { plugin_provider_id: 'lasso', credentials: {} }, 'credentials.apiKey: required'],
  ])('are rejected with %s', async (_name, body, message) => {
    const reply = await expectRefusal(plane, () => create(body), 400, 'AB01', true);
    expect(reply.body.data.message).toContain(message);
  });

  it('are kept by masks only if nothing else changes', async () => {
    const credentials = { apiKey: secret, apiEndpoint: 'https://partner.example.com' };
    const { id } = (await create({ plugin_provider_id: 'lasso', credentials })).body;
    const put = (changed: object) => plane.ask('PUT', `/plugins/${id}`, { body: { credentials: changed } });
    const masks = { apiKey: '****1234', apiEndpoint: '****.com' };
    expect((await put(masks)).body.credentials).toEqual(masks);
    const moved = { apiKey: '****1234', apiEndpoint: 'https://other.example.com' };
    const refused = await expectRefusal(plane, () => put(moved), 400, 'AB01', true);
    expect(refused.body.data.message).toContain('credentials.apiKey: a masked value');
    expect((await put({ apiKey: 'new-value-of-the-key-5678' })).body.credentials).toEqual({ apiKey: '****5678' });
  });

  it('reach gateways in the documents of guardrails that need them, and change there at once', async () => {
    const { id } = (await create({ plugin_provider_id: 'sydelabs', credentials: { apiKey: secret } })).body;
    const guardrail = async (check: object) => {
      const body = { name: 'G', workspace_id: plane.workspaceId, checks: [check] };
      return plane.ask('POST', '/guardrails', { body });
    };
    const made = await guardrail({ id: 'sydelabs.sydeguard' });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    const name = `${plane.workspaceId}/${made.body.slug}`;
    const key = deriveKey(plane.settings.clusterKey, keyPurposes.transport);
    const opened = async () => {
      const { document } = (await plane.internal('GET', `/documents/guardrail/${encodeURIComponent(name)}`)).body;
      return document.secrets && JSON.parse(unseal(key, document.secrets, `guardrail/${document.versionId}`).toString());
    };
    expect(await opened()).toEqual({ 0: { '/credentials': { apiKey: secret } } });
    expect(JSON.stringify((await plane.ask('GET', `/guardrails/${made.body.slug}`)).body)).not.toContain('****');
    const owner = plane.workspaceId;
    await expectChange(plane, () => plane.ask('PUT', `/plugins/${id}`, { body: { status: 'archived' } }), {
      resource: 'plugins',
      action: 'update',
      events: [made.body.slug, made.body.id, `${made.body.id}/${made.body.version_id}`].map(
        (one) => `guardrail ${owner}/${one} upsert`,
      ),
    });
    expect(await opened()).toBeNull();
    const without = await guardrail({ id: 'sydelabs.sydeguard' });
    expect([without.status, without.body.data.message]).toEqual([400, expect.stringContaining('credentials')]);
    const own = await guardrail({ id: 'sydelabs.sydeguard', parameters: { credentials: { apiKey: secret } } });
    expect(own.status).toBe(200);
  });

  it('belong to the organisation: other organisations and keys of a workspace cannot use or see them', async () => {
    const other = await plane.newTenant();
    expect((await plane.ask('GET', '/plugins', { key: other.adminKey })).body.total).toBe(0);
    await expectRefusal(plane, () => plane.ask('PUT', '/plugins/pillar', { key: other.adminKey, body: {} }), 404, 'AB08', true);
    await expectRefusal(plane, () => plane.ask('GET', '/plugins', { key: plane.workspaceKey }), 403, 'AB03', false);
    const body = { name: 'G', workspace_id: other.workspaceId, checks: [{ id: 'pillar.scanPrompt' }] };
    const guardrail = () => plane.ask('POST', '/guardrails', { key: other.adminKey, body });
    await expectRefusal(plane, guardrail, 400, 'AB01', true);
  });
});
