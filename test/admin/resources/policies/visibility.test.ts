import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newPerson, type Person } from '../../support/people.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';
import { usageBody } from './probes.ts';

describe.each(ruleDatabases)('visibility of counters of policies, on %s', (database) => {
  let plane: Plane;
  let manager: Person;
  let path = '';
  let byUser = '';
  const own = { id: '' };
  beforeAll(async () => {
    plane = await startPlane(database);
    const workspace_id = plane.workspaceId;
    manager = await newPerson(plane, 'member', [{ id: workspace_id, role: 'manager' }]);
    const key = { name: 'K', user_id: manager.id, scopes: ['completions.write'], workspace_id };
    own.id = (await plane.ask('POST', '/api-keys/workspace/user', { body: key })).body.id;
    const create = async (changes: object) =>
      (await plane.ask('POST', '/policies/usage-limits', { body: { ...usageBody, ...changes, workspace_id } })).body.id as string;
    const group_by = [{ key: 'metadata._user' }];
    const ids = [await create({}), await create({ group_by })];
    [path = '', byUser = ''] = ids.map((id) => `/policies/usage-limits/${id}`);
    const em = plane.control.services.database.emOf(plane.organisationId);
    const other = '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f00aa';
    for (const [at, valueKey] of [`api_key:${own.id}`, `api_key:${other}`].entries()) {
      await em.execute(
        `insert into limit_budgets (key, scope, entity_id, organisation_id, unit, capacity, used, start_ms, value_key)
         values (?, 'policy', ?, ?, 'cost', 10000000, 5, 0, ?)`,
        [`budget:${other.slice(0, -1)}${at}`, ids[0], plane.organisationId, valueKey],
      );
    }
  });
  afterAll(() => plane?.close());

  const set = async (security_settings: Record<string, boolean>) =>
    expect((await plane.ask('PUT', '/organisations/self', { body: { security_settings } })).status).toBe(200);
  const seenBy = async (key: string) => {
    const listed = await plane.ask('GET', `${path}/entities`, { key });
    const read = await plane.ask('GET', `${path}?include_usage=true`, { key });
    expect(Object.keys(read.body.value_key_usage_map)).toHaveLength(listed.body.total);
    return listed.body.data.map((one: { value_key: string }) => one.value_key);
  };

  it('users who see only their own data see only the counters of their own keys', async () => {
    expect(await seenBy(manager.token)).toHaveLength(2);
    await set({ managersViewAllData: false });
    expect(await seenBy(manager.token)).toEqual([`api_key:${own.id}`]);
    expect(await seenBy(plane.adminKey)).toHaveLength(2);
    await plane.ask('DELETE', `/api-keys/${own.id}`);
    expect(await seenBy(manager.token)).toEqual([]);
    await set({ managersViewAllData: true });
  });

  it('counters by metadata are refused to users who may not read it', async () => {
    await set({ managersViewLogMetadata: false });
    for (const one of [`${byUser}/entities`, `${byUser}?include_usage=true`]) {
      expect((await plane.ask('GET', one, { key: manager.token })).status).toBe(403);
      expect((await plane.ask('GET', one)).status).toBe(200);
    }
    expect(await seenBy(manager.token)).toHaveLength(2);
  });
});
