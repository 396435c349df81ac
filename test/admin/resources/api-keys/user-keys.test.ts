import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { writeChange } from '../../../../admin/publish/write-change.ts';
import { deleteKeysOfUser, provisionUserKey } from '../../../../admin/resources/api-keys/user-keys.ts';
import { workspaces } from '../../../../admin/resources/workspaces/entity.ts';
import { parseApiKey } from '../../../../core/contract/values/credentials/api-key.ts';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';
import { addPerson, documentOf, setSettings } from './people.ts';

type Work<T> = Parameters<typeof writeChange<T>>[4];

describe.each(ruleDatabases)('keys of users, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
    await plane.ask('POST', '/configs', { body: { name: 'C', slug: 'of-users', config: { provider: '@mock' } } });
  });
  afterAll(() => plane?.close());
  beforeEach(() => setSettings(plane, {}));

  const make = (user_id: string, more: object = {}) =>
    plane.ask('POST', '/api-keys/workspace/user', { body: { name: 'U', scopes: ['completions.write'], user_id, ...more } });
  const read = async (id: string) => (await plane.ask('GET', `/api-keys/${id}`)).body;
  const put = (id: string, body: unknown) => plane.ask('PUT', `/api-keys/${id}`, { body });

  function write<T>(work: Work<T>): Promise<T> {
    const { database, auditKey } = plane.control.services;
    const audit = {
      organisationId: plane.organisationId,
      workspaceId: plane.workspaceId,
      method: 'POST',
      uri: '/',
      requestId: 'test',
      requestBody: null,
      queryParams: {},
      userId: null,
      userType: 'system' as const,
      resourceType: 'workspace_users',
      action: 'create',
      clientIp: 'local',
    };
    return writeChange(database.emOf(plane.organisationId), auditKey, audit, null, work);
  }
  const owner = (userId: string) => ({ organisationId: plane.organisationId, workspaceId: plane.workspaceId, userId });
  const provision = (userId: string) =>
    write((change) => provisionUserKey(change, plane.control.services.apiKeyPepper, owner(userId)));

  it('can be created for members of the workspace, and for owners and admins of the organisation', async () => {
    expect((await make(await addPerson(plane))).status).toBe(200);
    expect((await make(await addPerson(plane, 'admin', null))).status).toBe(200);
    const outsider = await addPerson(plane, 'member', null);
    for (const id of [outsider, '7f9c2d1e-0000-4000-8000-000000000001']) {
      const reply = await expectRefusal(plane, () => make(id), 404, 'AB02', true);
      expect(reply.body.data.message).toContain('user_id: ');
    }
  });

  it('expire no later than the workspace allows', async () => {
    const userId = await addPerson(plane);
    await setSettings(plane, { user_api_key_ttl: 3_600 });
    const { id } = (await make(userId)).body;
    const ends = Date.parse((await read(id)).expires_at) - Date.now();
    expect(ends).toBeGreaterThan(3_500_000);
    expect(ends).toBeLessThanOrEqual(3_600_000);
    const shorter = new Date(Date.now() + 60_000).toISOString();
    const longer = new Date(Date.now() + 7_200_000).toISOString();
    expect((await read((await make(userId, { expires_at: shorter })).body.id)).expires_at).toBe(shorter);
    await expectRefusal(plane, () => make(userId, { expires_at: longer }), 400, 'AB01', true);
    await expectRefusal(plane, () => put(id, { expires_at: longer }), 400, 'AB01', true);
    await expectRefusal(plane, () => put(id, { expires_at: null }), 400, 'AB01', true);
    // Other metadata keys may change.
    const service = { name: 'S', scopes: ['configs.list'], expires_at: longer };
    expect((await plane.ask('POST', '/api-keys/workspace/service', { body: service })).status).toBe(200);
  });

  it('rotate by the policy of the workspace', async () => {
    const userId = await addPerson(plane);
    await setSettings(plane, { user_api_key_rotation_period: 7 });
    const { id } = (await make(userId)).body;
    expect((await read(id)).rotation_policy).toMatchObject({ rotation_period_days: 7, status: 'ACTIVE' });
    expect((await make(userId, { rotation_policy: { rotation_period: 'weekly' } })).status).toBe(200);
    await expectRefusal(plane, () => make(userId, { rotation_policy: { rotation_period: 'monthly' } }), 400, 'AB01', true);
    const other = { rotation_policy: { rotation_period_days: 7, next_rotation_at: '2099-01-01T00:00:00Z' } };
    await expectRefusal(plane, () => put(id, other), 400, 'AB01', true);
    await expectRefusal(plane, () => put(id, { rotation_policy: null }), 400, 'AB01', true);
    const service = { name: 'S', scopes: ['configs.list'], rotation_policy: { rotation_period: 'monthly' } };
    expect((await plane.ask('POST', '/api-keys/workspace/service', { body: service })).status).toBe(200);
  });

  it('are limited in number by the workspace, also for concurrent requests', async () => {
    const userId = await addPerson(plane);
    await setSettings(plane, { user_api_key_count: 2 });
    const replies = await Promise.all([make(userId), make(userId), make(userId), make(userId)]);
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, 200, 403, 403]);
    expect((await make(await addPerson(plane))).status).toBe(200);
  });

  it('get the default config of the workspace if they name none, permanently', async () => {
    const config =
      (await plane.ask('GET', '/configs/of-users')).body.data?.id ?? (await plane.ask('GET', '/configs/of-users')).body.id;
    const em = () => plane.control.services.database.em();
    await em().nativeUpdate(workspaces, { id: plane.workspaceId }, { userApiKeyConfigId: config });
    const { id, key } = (await make(await addPerson(plane))).body;
    expect((await read(id)).defaults.config_id).toBe(config);
    expect((await documentOf(plane, key))?.defaults.configSlug).toBe('of-users');
    await em().nativeUpdate(workspaces, { id: plane.workspaceId }, { userApiKeyConfigId: null });
    expect((await read(id)).defaults.config_id).toBe(config);
  });

  it('must match the metadata schema of the organisation', async () => {
    const schema = {
      type: 'object',
      additionalProperties: true,
      required: ['team'],
      properties: { team: { type: 'string', enum: ['a', 'b'] } },
    };
    const service = (metadata: object) =>
      plane.ask('POST', '/api-keys/workspace/service', { body: { name: 'S', scopes: ['configs.list'], defaults: { metadata } } });
    const before = (await service({})).body.id;
    await setSettings(plane, { api_key_metadata_schema: schema });
    await expectRefusal(plane, () => service({}), 400, 'AB01', true);
    const reply = await expectRefusal(plane, () => service({ team: 'c' }), 400, 'AB01', true);
    expect(reply.body.data.message).toContain('defaults.metadata.team');
    const { id } = (await service({ team: 'a', else: 'x' })).body;
    await expectRefusal(plane, () => put(id, { defaults: { metadata: { team: 'c' } } }), 400, 'AB01', true);
    // An existing key is checked only when its metadata changes.
    expect((await put(before, { name: 'T' })).status).toBe(200);
  });

  it('are created for new members if settings require it, with their settings', async () => {
    const userId = await addPerson(plane);
    expect(await provision(userId)).toBeNull();
    await setSettings(plane, {
      default_workspace_user_api_key_auto_create: true,
      user_api_key_auto_create_scopes: ['completions.write', 'configs.read'],
      user_api_key_ttl: 86_400,
      user_api_key_rotation_period: 30,
    });
    const made = await provision(userId);
    expect(made?.text).toMatch(/^svc_user_/);
    const shown = await read(made?.row.id ?? '');
    expect(shown).toMatchObject({
      type: 'workspace-user',
      user_id: userId,
      workspace_id: plane.workspaceId,
      creation_mode: 'auto',
      scopes: ['completions.write', 'configs.read'],
      rotation_policy: { rotation_period_days: 30 },
    });
    expect(Date.parse(shown.expires_at)).toBeGreaterThan(Date.now());
    expect(await documentOf(plane, made?.text ?? '')).toMatchObject({ keyId: shown.id, type: 'workspace-user' });
    // Joining again creates no second key.
    expect(await provision(userId)).toBeNull();
    // The owner gets a secret by rotating the key.
    const rotated = await plane.ask('POST', `/api-keys/${shown.id}/rotate`, { body: {} });
    expect(parseApiKey(rotated.body.key)?.id).toBe(parseApiKey(made?.text ?? '')?.id);
  });

  it('are deleted with their user, in one workspace or all', async () => {
    const userId = await addPerson(plane);
    const keys = [(await make(userId)).body.key, (await make(userId)).body.key] as string[];
    const bystander = (await make(await addPerson(plane))).body.key as string;
    const before = (await plane.events()).length;
    expect(await write((change) => deleteKeysOfUser(change, { ...owner(userId), workspaceId: null }))).toBe(2);
    const added = (await plane.events()).slice(before).map((one) => `${one.kind} ${one.documentId} ${one.op}`);
    expect(added.sort()).toEqual(keys.map((key) => `api-key ${parseApiKey(key)?.id} delete`).sort());
    for (const key of keys) expect(await documentOf(plane, key)).toBeNull();
    expect(await documentOf(plane, bystander)).not.toBeNull();
  });

  it('cannot change their user', async () => {
    const { id } = (await make(await addPerson(plane))).body;
    await expectRefusal(plane, () => put(id, { user_id: '7f9c2d1e-0000-4000-8000-000000000001' }), 400, 'AB01', true);
  });
});
