import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiKeys } from '../../../../admin/resources/api-keys/entity.ts';
import { keyPurposes } from '../../../../core/contract/protocol/credentials/key-purposes.ts';
import { digestSecret, parseApiKey } from '../../../../core/contract/values/credentials/api-key.ts';
import { deriveKey } from '../../../../core/contract/values/credentials/secret.ts';
import { expectChange } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';
import { addPerson, setRow } from './people.ts';

describe.each(ruleDatabases)('accepted API keys, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
    await plane.ask('POST', '/configs', { body: { name: 'C', slug: 'of-keys', config: { provider: '@mock' } } });
  });
  afterAll(() => plane?.close());

  const digestOf = (text: string) =>
    digestSecret(deriveKey(plane.settings.encryptionKey, keyPurposes.apiKeyPepper), parseApiKey(text)?.secret ?? '');
  const documentOf = async (text: string) =>
    (await plane.internal('GET', `/documents/api-key/${parseApiKey(text)?.id}`)).body.document;
  const publicIdOf = async (id: string) => (await plane.control.services.database.em().findOneOrFail(apiKeys, { id })).publicId;

  it('include a workspace key, shown once and stored as a digest', async () => {
    const body = {
      name: 'Service',
      description: 'for the build',
      scopes: ['completions.write', 'completions.write', 'logs.view'],
      defaults: { config_id: 'of-keys', metadata: { team: 'a' }, allow_config_override: false },
      expires_at: '2099-01-01T00:00:00Z',
      usage_limits: null,
      rate_limits: [],
      reject_unmetered_requests: true,
    };
    const before = (await plane.events()).length;
    const reply = await plane.ask('POST', '/api-keys/workspace/service', { body });
    expect(reply.body).toEqual({ id: expect.any(String), key: expect.stringMatching(/^svc_ws_/), object: 'api-key' });
    const { id, key } = reply.body;
    const [event] = (await plane.events()).slice(before);
    expect(event).toMatchObject({ kind: 'api-key', documentId: parseApiKey(key)?.id, op: 'upsert' });

    const read = (await plane.ask('GET', `/api-keys/${id}`)).body;
    expect(read).toMatchObject({
      id,
      name: 'Service',
      type: 'workspace-service',
      status: 'active',
      workspace_id: plane.workspaceId,
      scopes: ['completions.write', 'logs.view'],
      defaults: { metadata: { team: 'a' } },
      allow_config_override: 0,
      reject_unmetered_requests: true,
      expires_at: '2099-01-01T00:00:00.000Z',
      object: 'api-key',
    });
    expect(read.key).toBe(`svc_***${key.slice(-4)}`);
    expect(await documentOf(key)).toMatchObject({
      keyId: id,
      digest: digestOf(key),
      previousDigest: null,
      type: 'workspace-service',
      organisationId: plane.organisationId,
      workspaceId: plane.workspaceId,
      scopes: ['completions.write', 'logs.view'],
      rejectUnmetered: true,
      defaults: { configSlug: 'of-keys', metadata: { team: 'a' }, allowConfigOverride: false },
    });
    const row = await plane.control.services.database.em().findOneOrFail(apiKeys, { id });
    expect(JSON.stringify(row)).not.toContain(parseApiKey(key)?.secret);
  });

  it('include keys of users and of the organisation with their own kinds', async () => {
    const userId = await addPerson(plane);
    const user = await plane.ask('POST', '/api-keys/workspace/user', {
      body: { name: 'U', scopes: ['completions.write'], user_id: userId },
    });
    expect(user.body.key).toMatch(/^svc_user_/);
    expect(await documentOf(user.body.key)).toMatchObject({ type: 'workspace-user', userId });
    const admin = await plane.ask('POST', '/api-keys/organisation/service', { body: { name: 'A', scopes: ['configs.list'] } });
    expect(admin.body.key).toMatch(/^svc_admin_/);
    expect((await plane.ask('GET', '/configs', { key: admin.body.key })).status).toBe(200);
  });

  it('keep fields that an update does not name', async () => {
    const { id } = (
      await plane.ask('POST', '/api-keys/workspace/service', {
        body: { name: 'K', scopes: ['configs.list'], defaults: { metadata: { a: 'b' } } },
      })
    ).body;
    const body = {
      name: 'Renamed',
      scopes: ['configs.read'],
      defaults: { config_id: 'of-keys' },
      expires_at: '2099-01-01T00:00:00Z',
    };
    await expectChange(plane, () => plane.ask('PUT', `/api-keys/${id}`, { body }), {
      resource: 'api_keys',
      action: 'update',
      events: [`api-key ${await publicIdOf(id)} upsert`],
    });
    const read = (await plane.ask('GET', `/api-keys/${id}`)).body;
    expect(read).toMatchObject({ name: 'Renamed', scopes: ['configs.read'], defaults: { metadata: { a: 'b' } } });
    expect(read.defaults.config_id).toMatch(/^[0-9a-f-]{36}$/);
    await plane.ask('PUT', `/api-keys/${id}`, { body: { expires_at: null, defaults: { config_id: null } } });
    expect((await plane.ask('GET', `/api-keys/${id}`)).body).toMatchObject({ expires_at: null, defaults: { config_id: null } });
  });

  it('have limits and addresses, which gateways get and null clears', async () => {
    const limits = { type: 'tokens', credit_limit: 1_000, alert_threshold: 900, periodic_reset: 'weekly' };
    const rate = [
      { type: 'requests', unit: 'rpm', value: 60 },
      { type: 'tokens', unit: 'rpd', value: 0 },
    ];
    const body = {
      name: 'L',
      scopes: ['completions.write'],
      usage_limits: limits,
      rate_limits: rate,
      alert_emails: ['a@example.com', 'b@example.com', 'a@example.com'],
    };
    const { id, key } = (await plane.ask('POST', '/api-keys/workspace/service', { body })).body;
    const read = async () => (await plane.ask('GET', `/api-keys/${id}`)).body;
    const made = await read();
    expect(made.usage_limits).toMatchObject({ ...limits, periodic_reset_days: null, next_usage_reset_at: null });
    expect(made).toMatchObject({ rate_limits: rate, alert_emails: ['a@example.com', 'b@example.com'] });
    expect(await documentOf(key)).toMatchObject({
      name: 'L',
      usageLimits: { id: made.usage_limits.id, type: 'tokens', creditLimit: 1_000, periodicReset: 'weekly' },
      rateLimits: rate,
      usageResetAt: null,
    });

    const put = (sent: unknown) => plane.ask('PUT', `/api-keys/${id}`, { body: sent });
    await put({ usage_limits: { alert_threshold: null, periodic_reset: null } });
    expect((await read()).usage_limits).toMatchObject({ credit_limit: 1_000, alert_threshold: null, periodic_reset: null });
    await put({ usage_limits: { periodic_reset_days: 10, next_usage_reset_at: '2099-01-01T00:00:00Z' } });
    expect((await read()).usage_limits).toMatchObject({
      id: made.usage_limits.id,
      periodic_reset_days: 10,
      next_usage_reset_at: '2099-01-01T00:00:00.000Z',
    });
    await put({ usage_limits: null, rate_limits: [], alert_emails: [] });
    expect(await read()).toMatchObject({ usage_limits: null, rate_limits: [], alert_emails: [] });
    expect(await documentOf(key)).toMatchObject({ usageLimits: null, rateLimits: [] });
  });

  it('become active again after a reset, or with a higher limit', async () => {
    const body = { name: 'E', scopes: ['completions.write'], usage_limits: { credit_limit: 5 } };
    const { id, key } = (await plane.ask('POST', '/api-keys/workspace/service', { body })).body;
    const put = (sent: unknown) => plane.ask('PUT', `/api-keys/${id}`, { body: sent });
    const state = async () => (await plane.ask('GET', `/api-keys/${id}`)).body.status;
    const exhaust = () => setRow(plane, id, { exhaustedAt: new Date() });
    await exhaust();
    expect(await state()).toBe('exhausted');
    expect(await documentOf(key)).toMatchObject({ status: 'exhausted' });
    expect((await plane.ask('GET', '/api-keys?status=exhausted')).body.total).toBe(1);
    await put({ usage_limits: { credit_limit: 4 } });
    expect(await state()).toBe('exhausted');
    await put({ usage_limits: { credit_limit: 6 } });
    expect(await state()).toBe('active');
    await exhaust();
    await put({ reset_usage: true });
    expect(await state()).toBe('active');
    const { last_reset_at: resetAt } = (await plane.ask('GET', `/api-keys/${id}`)).body;
    expect(await documentOf(key)).toMatchObject({ usageResetAt: resetAt });
  });

  it('rotate: the new secret works at once, the old one until the transition ends, a further rotation waits', async () => {
    const made = (await plane.ask('POST', '/api-keys/workspace/service', { body: { name: 'R', scopes: ['configs.list'] } })).body;
    const reply = await expectChange(plane, () => plane.ask('POST', `/api-keys/${made.id}/rotate`, { body: {} }), {
      resource: 'api_keys',
      action: 'rotate',
      events: [`api-key ${parseApiKey(made.key)?.id} upsert`],
    });
    expect(reply.body.id).toBe(made.id);
    expect(parseApiKey(reply.body.key)?.id).toBe(parseApiKey(made.key)?.id);
    expect(Date.parse(reply.body.key_transition_expires_at)).toBeGreaterThan(Date.now() + 1_790_000);
    for (const key of [made.key, reply.body.key]) expect((await plane.ask('GET', '/configs', { key })).status).toBe(200);
    const document = await documentOf(made.key);
    expect(document).toMatchObject({ digest: digestOf(reply.body.key), previousDigest: digestOf(made.key) });
    expect(document.previousExpiresAt).toBe(reply.body.key_transition_expires_at);
    expect((await plane.ask('POST', `/api-keys/${made.id}/rotate`, { body: {} })).status).toBe(409);

    const past = { previousExpiresAt: new Date(Date.now() - 1_000) };
    await plane.control.services.database.em().nativeUpdate(apiKeys, { id: made.id }, past);
    expect((await plane.ask('GET', '/configs', { key: made.key })).status).toBe(401);
    expect((await plane.ask('GET', '/configs', { key: reply.body.key })).status).toBe(200);
  });

  it('are unknown at once after deletion', async () => {
    const made = (await plane.ask('POST', '/api-keys/workspace/service', { body: { name: 'D', scopes: ['configs.list'] } })).body;
    const reply = await expectChange(plane, () => plane.ask('DELETE', `/api-keys/${made.id}`), {
      resource: 'api_keys',
      action: 'delete',
      events: [`api-key ${parseApiKey(made.key)?.id} delete`],
    });
    expect(reply.body).toEqual({});
    expect(await documentOf(made.key)).toBeNull();
    expect((await plane.ask('GET', '/configs', { key: made.key })).status).toBe(401);
  });

  it('are listed by workspace, state and ids', async () => {
    const all = (await plane.ask('GET', '/api-keys')).body;
    expect(all).toMatchObject({ object: 'list', total: all.data.length });
    const mine = (await plane.ask('GET', '/api-keys', { key: plane.workspaceKey })).body.data as { workspace_id: string }[];
    expect(new Set(mine.map((one) => one.workspace_id))).toEqual(new Set([plane.workspaceId]));
    const two = all.data.slice(0, 2).map((one: { id: string }) => one.id);
    expect((await plane.ask('GET', `/api-keys?ids=${two.join(',')}`)).body.total).toBe(2);
    const one = two[0] as string;
    await plane.control.services.database.em().nativeUpdate(apiKeys, { id: one }, { expiresAt: new Date(0) });
    const expired = (await plane.ask('GET', '/api-keys?status=expired')).body.data;
    expect(expired.map((row: { id: string; status: string }) => [row.id, row.status])).toEqual([[one, 'expired']]);
    expect((await plane.ask('GET', '/api-keys?status=active')).body.total).toBe(all.total - 1);
    expect((await plane.ask('GET', '/api-keys?status=exhausted')).body.total).toBe(0);
    expect((await plane.ask('GET', '/api-keys?status=active,expired')).body.total).toBe(all.total);
    const admins = (await plane.ask('GET', '/api-keys?type=organisation-service')).body.data as { type: string }[];
    expect(new Set(admins.map((row) => row.type))).toEqual(new Set(['organisation-service']));
    const users = (await plane.ask('GET', '/api-keys?type=workspace-user')).body.data as { id: string; user_id: string }[];
    const ofUser = (await plane.ask('GET', `/api-keys?user_id=${users[0]?.user_id}`)).body.data;
    expect(ofUser.map((row: { id: string }) => row.id)).toEqual([users[0]?.id]);
  });

  it('are listed page by page, and from any key on, every key once', async () => {
    const all = (await plane.ask('GET', '/api-keys')).body.data.map((one: { id: string }) => one.id);
    const pages: string[] = [];
    const walk: string[] = [];
    for (let page = 0; pages.length < all.length; page++) {
      const { total, data } = (await plane.ask('GET', `/api-keys?page_size=3&current_page=${page}`)).body;
      expect(total).toBe(all.length);
      expect(data.length).toBeGreaterThan(0);
      pages.push(...data.map((one: { id: string }) => one.id));
    }
    for (let data = (await plane.ask('GET', '/api-keys?page_size=3')).body.data; data.length > 0; ) {
      walk.push(...data.map((one: { id: string }) => one.id));
      data = (await plane.ask('GET', `/api-keys?page_size=3&after=${walk.at(-1)}`)).body.data;
    }
    expect(pages).toEqual(all);
    expect(walk).toEqual(all);
  });
});
