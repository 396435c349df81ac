import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { newPerson, type Person } from '../../support/people.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('visibility of analytics, on %s', (database) => {
  let plane: Plane;
  let member: Person;
  let manager: Person;
  beforeAll(async () => {
    plane = await startPlane(database);
    member = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'member' }]);
    manager = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'manager' }]);
    const tenant = { organisationId: plane.organisationId, workspaceId: plane.workspaceId, metadata: { _user: 'ann' } };
    const records = [sampleRecord({ ...tenant, userId: member.id }), sampleRecord(tenant), sampleRecord(tenant)];
    expect((await plane.internal('POST', '/records', records)).body).toMatchObject({ inserted: 3 });
  });
  afterAll(() => plane?.close());

  const ask = (key: string, path: string, query = '') => {
    const span = 'time_of_generation_min=2026-11-21T00:00:00Z&time_of_generation_max=2026-11-22T00:00:00Z';
    return plane.ask('GET', `/analytics/${path}?${span}&${query}`, { key });
  };
  const countFor = async (key: string) => (await ask(key, 'graphs/requests')).body.summary.total;
  const set = async (security_settings: Record<string, boolean>) =>
    expect((await plane.ask('PUT', '/organisations/self', { body: { security_settings } })).status).toBe(200);

  it('members see all data of their workspace by default', async () => {
    for (const key of [plane.adminKey, plane.workspaceKey, member.token, manager.token]) expect(await countFor(key)).toBe(3);
  });

  it('members see only requests of their own keys if the settings say so, in every source', async () => {
    await set({ membersViewAllData: false });
    expect(await countFor(member.token)).toBe(1);
    expect((await ask(member.token, 'graphs/requests', 'total_units_min=0')).body.summary.total).toBe(1);
    expect((await ask(member.token, 'groups/users')).body.data).toEqual([expect.objectContaining({ user: 'ann', requests: 1 })]);
    for (const key of [manager.token, plane.workspaceKey]) expect(await countFor(key)).toBe(3);
    await set({ membersViewAllData: true });
  });

  it('metadata serves neither filters nor groups for those who may not read it', async () => {
    await set({ membersViewLogMetadata: false });
    for (const [path, query] of [
      ['groups/users', ''],
      ['groups/metadata/_user', ''],
      ['graphs/cost', `metadata=${encodeURIComponent('{"_user":"ann"}')}`],
    ] as const) {
      expect([path, (await ask(member.token, path, query)).status]).toEqual([path, 403]);
      expect([path, (await ask(manager.token, path, query)).status]).toEqual([path, 200]);
    }
  });
});
