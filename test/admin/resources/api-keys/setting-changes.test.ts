import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newPerson } from '../../support/people.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { patch, scimClient } from '../../support/scim-client.ts';
import { ruleDatabases } from '../../support/test-database.ts';
import { documentOf } from './people.ts';

describe.each(ruleDatabases)('grants of users after a change of security settings, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const set = async (path: string, body: object) => expect((await plane.ask('PUT', path, { body })).status).toBe(200);
  const scopesOf = async (id: string) => (await plane.ask('GET', `/api-keys/${id}`)).body.scopes;
  const make = async (key: string, scopes: readonly string[], kind = 'workspace/service') => {
    const query = kind.startsWith('workspace') ? `?workspace_id=${plane.workspaceId}` : '';
    const reply = await plane.ask('POST', `/api-keys/${kind}${query}`, { key, body: { name: 'k', scopes } });
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    return reply.body as { id: string; key: string };
  };
  const grant = ['workspace_service_api_keys.create'];

  it('lose scopes that managers lose by a setting of the organisation, recursively, and regain them', async () => {
    const { token } = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'manager' }]);
    const parent = await make(token, [...grant, 'logs.view', 'completions.write']);
    const child = await make(parent.key, ['logs.view', 'completions.write']);
    const revision = async () => (await plane.ask('GET', `/api-keys/${child.id}`)).headers.get('etag');
    const before = await revision();
    await set('/organisations/self', { security_settings: { managersViewConfigs: false } });
    expect(await revision()).toBe(before);
    await set('/organisations/self', { security_settings: { managersViewLogs: false } });
    expect(await scopesOf(parent.id)).toEqual([...grant, 'completions.write']);
    expect(await scopesOf(child.id)).toEqual(['completions.write']);
    expect((await documentOf(plane, child.key))?.scopes).toEqual(['completions.write']);
    await set('/organisations/self', { security_settings: { managersViewLogs: true, managersViewConfigs: true } });
    expect(await scopesOf(child.id)).toEqual(['logs.view', 'completions.write']);
  });

  it('lose scopes that managers lose by a setting of the workspace', async () => {
    const { token } = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'manager' }]);
    const made = await make(token, ['logs.view', 'completions.write']);
    await set('/organisations/self', { override_settings: { logs: true } });
    await set(`/admin/workspaces/${plane.workspaceId}`, { security_settings: { managersViewLogs: false } });
    expect(await scopesOf(made.id)).toEqual(['completions.write']);
    await set('/organisations/self', { override_settings: { logs: false } });
    expect(await scopesOf(made.id)).toEqual(['logs.view', 'completions.write']);
  });

  it('lose scopes that admins lose, in workspaces and in the organisation; those of owners stay', async () => {
    const [admin, owner] = [await newPerson(plane, 'admin'), await newPerson(plane, 'owner')];
    const scopes = ['logs.view', 'configs.list'];
    const [service, own] = [await make(admin.token, scopes), await make(admin.token, scopes, 'organisation/service')];
    const ofOwner = await make(owner.token, scopes);
    await set('/organisations/self', { security_settings: { organisationAdminsViewLogs: false } });
    expect(await Promise.all([service, own, ofOwner].map(({ id }) => scopesOf(id)))).toEqual([
      ['configs.list'],
      ['configs.list'],
      scopes,
    ]);
    await set('/organisations/self', { security_settings: { organisationAdminsViewLogs: true } });
    expect(await Promise.all([service, own].map(({ id }) => scopesOf(id)))).toEqual([scopes, scopes]);
  });

  it('are limited by the settings of their workspace, also if the request names the key by its id only', async () => {
    const [owner, admin] = [await newPerson(plane, 'owner'), await newPerson(plane, 'admin')];
    const setAs = async (path: string, body: object) =>
      expect((await plane.ask('PUT', path, { key: owner.token, body })).status).toBe(200);
    await setAs('/organisations/self', { override_settings: { logs: true } });
    await setAs(`/admin/workspaces/${plane.workspaceId}`, { security_settings: { organisationAdminsViewLogs: false } });
    const { id } = await make(admin.token, ['configs.list']);
    const body = { scopes: ['configs.list', 'logs.view'] };
    expect((await plane.ask('PUT', `/api-keys/${id}`, { key: admin.token, body })).status).toBe(403);
    expect(await scopesOf(id)).toEqual(['configs.list']);
    await setAs('/organisations/self', { override_settings: { logs: false } });
    expect((await plane.ask('PUT', `/api-keys/${id}`, { key: admin.token, body })).status).toBe(200);
  });

  it('keep their scopes when a directory deactivates the user, also after later changes and the return of the user', async () => {
    const user = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'manager' }]);
    const made = await make(user.token, ['logs.view', 'completions.write']);
    const scim = await scimClient(plane);
    const setActive = async (value: boolean) =>
      expect((await scim('PATCH', `/Users/${user.id}`, patch({ op: 'replace', path: 'active', value }))).status).toBe(200);
    await setActive(false);
    await set('/organisations/self', { security_settings: { managersViewLogs: false } });
    await setActive(true);
    expect(await scopesOf(made.id)).toEqual(['logs.view', 'completions.write']);
    await set('/organisations/self', { security_settings: { managersViewLogs: true } });
  });
});
