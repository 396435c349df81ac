import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requireModelRight } from '../../../admin/access/model-rights.ts';
import type { Actor } from '../../../admin/http/caller/actor.ts';
import { users } from '../../../admin/resources/users/entity.ts';
import { expectRefusal } from '../support/outcomes.ts';
import { newPerson, type Person } from '../support/people.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

describe.each(ruleDatabases)('settings for models of integrations, on %s', (database) => {
  let plane: Plane;
  const people = new Map<string, Person>();
  beforeAll(async () => {
    plane = await startPlane(database);
    const body = { name: 'I', slug: 'i', ai_provider_id: 'openai', key: 'k', workspace_id: plane.workspaceId };
    expect((await plane.ask('POST', '/integrations', { body })).status).toBe(200);
    for (const role of ['admin', 'manager', 'member', 'viewer'] as const) {
      people.set(role, await newPerson(plane, 'member', [{ id: plane.workspaceId, role }]));
    }
    people.set('organisation admin', await newPerson(plane, 'admin'));
  });
  afterAll(() => plane?.close());

  const put = { models: [{ slug: 'gpt-4o', enabled: true }] };
  const paths = ['/integrations/i/models', '/integrations/i/integration-models'].map((path) => `${path}?workspace_id=`);
  const set = async (security_settings: Record<string, boolean>) =>
    expect((await plane.ask('PUT', '/organisations/self', { body: { security_settings } })).status).toBe(200);
  /** Statuses of GET, PUT and DELETE, the same on both paths. */
  const statuses = async (key: string) => {
    const all: number[][] = [];
    for (const path of paths) {
      const at = `${path}${plane.workspaceId}`;
      const replies = [
        await plane.ask('GET', at, { key }),
        await plane.ask('PUT', at, { key, body: put }),
        await plane.ask('DELETE', `${at}&slugs=none`, { key }),
      ];
      all.push(replies.map((reply) => reply.status));
    }
    expect(all[1]).toEqual(all[0]);
    return all[0];
  };
  const of = (who: string) => statuses(people.get(who)?.token ?? '');

  it('let managers read and change, members and viewers read by default', async () => {
    for (const who of ['admin', 'manager', 'organisation admin']) expect(await of(who)).toEqual([200, 200, 200]);
    for (const who of ['member', 'viewer']) expect(await of(who)).toEqual([200, 403, 403]);
  });

  it('remove the rights of managers to change, and then to read', async () => {
    await set({ managersWriteIntegrationModels: false });
    for (const who of ['admin', 'manager']) expect(await of(who)).toEqual([200, 403, 403]);
    await set({ managersViewIntegrationModels: false });
    for (const who of ['admin', 'manager']) expect(await of(who)).toEqual([403, 403, 403]);
    expect(await of('member')).toEqual([200, 403, 403]);
    expect(await of('organisation admin')).toEqual([200, 200, 200]);
    expect(await statuses(plane.workspaceKey)).toEqual([200, 200, 200]);
    await set({ managersWriteIntegrationModels: true, managersViewIntegrationModels: true });
    expect(await of('manager')).toEqual([200, 200, 200]);
  });

  it('apply to members and their keys', async () => {
    const { id } = people.get('member') as Person;
    const scopes = ['workspace_integrations.read', 'workspace_integrations.list'];
    const body = { name: 'k', scopes, user_id: id, workspace_id: plane.workspaceId };
    const { key } = (await plane.ask('POST', '/api-keys/workspace/user', { body })).body;
    expect(await statuses(key)).toEqual([200, 403, 403]);
    await set({ membersViewIntegrationModels: false });
    for (const who of ['member', 'viewer']) expect(await of(who)).toEqual([403, 403, 403]);
    expect(await statuses(key)).toEqual([403, 403, 403]);
    expect(await of('manager')).toEqual([200, 200, 200]);
    const seen = await plane.ask('GET', `/integrations/i?workspace_id=${plane.workspaceId}`, { key });
    expect(seen.status).toBe(200);
    await set({ membersViewIntegrationModels: true });
  });

  it('can be overridden by a workspace if allowed, and rejected changes are in the audit log', async () => {
    await plane.ask('PUT', '/organisations/self', { body: { override_settings: { integration_models: true } } });
    const own = { security_settings: { managersWriteIntegrationModels: false } };
    const changed = await plane.ask('PUT', `/workspaces/${plane.workspaceId}`, { body: own });
    expect(changed.status, JSON.stringify(changed.body)).toBe(200);
    const { token } = people.get('manager') as Person;
    const request = () => plane.ask('PUT', `${paths[0]}${plane.workspaceId}`, { key: token, body: put });
    const reply = await expectRefusal(plane, request, 403, 'AB03', true);
    expect(reply.body.data.message).toBe('Your role does not allow changing models of integrations in this workspace');
  });

  it('give no rights to a user whom the directory has deactivated, whatever their role', async () => {
    const { id } = await newPerson(plane, 'admin');
    const em = plane.control.services.database.em();
    const actor = { userId: id, organisationId: plane.organisationId } as Actor;
    const require = () => requireModelRight({ em, actor, workspaceId: plane.workspaceId }, 'view');
    await expect(require()).resolves.toBeUndefined();
    await em.nativeUpdate(users, { id }, { deactivatedAt: new Date() });
    await expect(require()).rejects.toThrow('Your role does not allow reading models of integrations in this workspace');
  });
});
