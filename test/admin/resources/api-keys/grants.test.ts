import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { followUserGrantors } from '../../../../admin/access/follow-grants.ts';
import { writeChange } from '../../../../admin/publish/write-change.ts';
import { apiKeys } from '../../../../admin/resources/api-keys/entity.ts';
import { parseApiKey } from '../../../../core/contract/values/credentials/api-key.ts';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { newPerson } from '../../support/people.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';
import { addPerson, documentOf, setRow } from './people.ts';

const manage = ['workspace_service_api_keys.create', 'workspace_service_api_keys.update', 'workspace_service_api_keys.read'];

describe.each(ruleDatabases)('grants of a key, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const make = async (scopes: readonly string[], key = plane.adminKey) => {
    const reply = await plane.ask('POST', '/api-keys/workspace/service', { key, body: { name: 'k', scopes } });
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    return reply.body as { id: string; key: string };
  };
  const put = (id: string, scopes: readonly string[], key = plane.adminKey) =>
    plane.ask('PUT', `/api-keys/${id}`, { key, body: { scopes } });
  const scopesOf = async (id: string) => (await plane.ask('GET', `/api-keys/${id}`)).body.scopes;
  const event = (key: string) => `api-key ${parseApiKey(key)?.id} upsert`;

  it('shrink with the key, recursively and at once, for gateways too, and grow back with it', async () => {
    const parent = await make([...manage, 'configs.list', 'completions.write']);
    const child = await make([...manage, 'configs.list', 'completions.write'], parent.key);
    const grandchild = await make(['configs.list', 'completions.write'], child.key);
    const bystander = await make(['completions.write'], parent.key);
    expect((await plane.ask('GET', '/configs', { key: grandchild.key })).status).toBe(200);

    await expectChange(plane, () => put(parent.id, [...manage, 'completions.write']), {
      resource: 'api_keys',
      action: 'update',
      events: [event(parent.key), event(child.key), event(grandchild.key)],
    });
    expect(await scopesOf(child.id)).toEqual([...manage, 'completions.write']);
    expect(await scopesOf(grandchild.id)).toEqual(['completions.write']);
    expect((await plane.ask('GET', '/configs', { key: grandchild.key })).status).toBe(403);
    expect((await documentOf(plane, grandchild.key))?.scopes).toEqual(['completions.write']);
    expect(await scopesOf(bystander.id)).toEqual(['completions.write']);

    await put(parent.id, [...manage, 'configs.list', 'completions.write']);
    expect(await scopesOf(grandchild.id)).toEqual(['configs.list', 'completions.write']);
  });

  it('are refused with the name of the role to a signed-in user', async () => {
    const manager = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'manager' }]);
    const reply = await plane.ask('POST', '/api-keys/workspace/service', {
      key: manager.token,
      body: { name: 'k', scopes: ['completions.write', 'secret_references.list'] },
    });
    expect([reply.status, reply.body.data.message]).toEqual([
      403,
      'Your role cannot grant scopes that it does not have: secret_references.list',
    ]);
  });

  it('include calling models while the granting key is an organisation key', async () => {
    const admin = await plane.ask('POST', '/api-keys/organisation/service', {
      body: { name: 'a', scopes: [...manage, 'configs.list'] },
    });
    const child = await make(['configs.list', 'completions.write'], admin.body.key);
    await put(admin.body.id, manage);
    expect(await scopesOf(child.id)).toEqual(['completions.write']);
  });

  it('include reading logs only while the granting key may view them', async () => {
    const newAdmin = async (scopes: readonly string[]) =>
      (await plane.ask('POST', '/api-keys/organisation/service', { body: { name: 'a', scopes } })).body;
    const blind = await newAdmin(manage);
    const ask = () =>
      plane.ask('POST', '/api-keys/workspace/service', { key: blind.key, body: { name: 'k', scopes: ['logs.read'] } });
    await expectRefusal(plane, ask, 403, 'AB03', true);
    const seeing = await newAdmin([...manage, 'logs.view']);
    const child = await make(['logs.read', 'completions.write'], seeing.key);
    await put(seeing.id, manage);
    expect(await scopesOf(child.id)).toEqual(['completions.write']);
    await put(seeing.id, [...manage, 'logs.view']);
    expect(await scopesOf(child.id)).toEqual(['logs.read', 'completions.write']);
  });

  it('are never more than an admin may see whose view of logs the owners have hidden', async () => {
    const hide = async (organisationAdminsViewLogs: boolean) => {
      const body = { security_settings: { organisationAdminsViewLogs } };
      expect((await plane.ask('PUT', '/organisations/self', { body })).status).toBe(200);
    };
    const { token } = await newPerson(plane, 'admin');
    const ask = () =>
      plane.ask('POST', '/api-keys/workspace/service', { key: token, body: { name: 'k', scopes: ['logs.read'] } });
    await hide(false);
    await expectRefusal(plane, ask, 403, 'AB03', true);
    await hide(true);
    expect((await ask()).status).toBe(200);
  });

  it('stay unchanged when the granting key is deleted, and pass to its grantor', async () => {
    const parent = await make([...manage, 'configs.list', 'logs.view']);
    const child = await make([...manage, 'configs.list', 'logs.view'], parent.key);
    const grandchild = await make(['configs.list', 'logs.view'], child.key);
    await put(child.id, [...manage, 'logs.view']);
    expect(await scopesOf(grandchild.id)).toEqual(['logs.view']);
    expect((await plane.ask('DELETE', `/api-keys/${child.id}`)).status).toBe(200);
    expect(await scopesOf(grandchild.id)).toEqual(['logs.view']);
    // The first admin key changed `child`, so it grants its scopes.
    const admin = await plane.control.services.database
      .em()
      .findOneOrFail(apiKeys, { publicId: parseApiKey(plane.adminKey)?.id ?? '' });
    const row = await plane.control.services.database.em().findOneOrFail(apiKeys, { id: grandchild.id });
    expect([row.grantedByKeyId, row.grantedScopes]).toEqual([admin.id, ['logs.view']]);
  });

  it('never form a circle: a key changed by its grantee keeps its grantor', async () => {
    const parent = await make([...manage, 'configs.list', 'logs.view']);
    const child = await make([...manage, 'configs.list'], parent.key);
    expect((await put(parent.id, [...manage, 'configs.list'], child.key)).status).toBe(200);
    expect((await put(child.id, manage, child.key)).status).toBe(200);
    const em = plane.control.services.database.em();
    expect((await em.findOneOrFail(apiKeys, { id: parent.id })).grantedByKeyId).not.toBe(child.id);
    expect((await em.findOneOrFail(apiKeys, { id: child.id })).grantedByKeyId).toBe(parent.id);
    expect((await put(parent.id, manage)).status).toBe(200);
  });

  it('are limited to the rights of the granting user', async () => {
    const userId = await addPerson(plane);
    const made = await make(['configs.list', 'completions.write', 'workspace_service_api_keys.create']);
    const line = await make(['configs.list'], made.key);
    await setRow(plane, made.id, { grantedByKeyId: null, grantedByUserId: userId });
    const { database, auditKey } = plane.control.services;
    const before = (await plane.events()).length;
    const audit = {
      organisationId: plane.organisationId,
      workspaceId: null,
      method: 'PUT',
      uri: '/',
      requestId: 'test',
      requestBody: null,
      queryParams: {},
      userId: null,
      userType: 'system' as const,
      resourceType: 'users',
      action: 'update',
      clientIp: 'local',
    };
    const grantors = [{ userId, workspaceId: plane.workspaceId }];
    await writeChange(database.emOf(plane.organisationId), auditKey, audit, null, (change) =>
      followUserGrantors(change, plane.organisationId, grantors, ['completions.write']),
    );
    expect(await scopesOf(made.id)).toEqual(['completions.write']);
    expect(await scopesOf(line.id)).toEqual([]);
    const added = (await plane.events()).slice(before).map((one) => `${one.kind} ${one.documentId} ${one.op}`);
    expect(added).toEqual([event(made.key), event(line.key)]);
  });

  it('fail if the granting key loses scopes meanwhile', async () => {
    const parent = await make([...manage, 'configs.list']);
    const children = Promise.all(
      Array.from({ length: 8 }, () =>
        plane.ask('POST', '/api-keys/workspace/service', { key: parent.key, body: { name: 'k', scopes: ['configs.list'] } }),
      ),
    );
    const [made] = await Promise.all([children, put(parent.id, manage)]);
    for (const reply of made) {
      if (reply.status === 200) expect(await scopesOf(reply.body.id)).toEqual([]);
      else expect(reply.status).toBe(403);
    }
  });
});
