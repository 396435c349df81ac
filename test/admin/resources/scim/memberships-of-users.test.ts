import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Plane, startPlane } from '../../support/plane.ts';
import { patch, type ScimAsk, scimClient } from '../../support/scim-client.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('SCIM users whose directory writes memberships with them, on %s', (database) => {
  let plane: Plane;
  let scim: ScimAsk;
  let groups: string[];
  beforeAll(async () => {
    plane = await startPlane(database);
    scim = await scimClient(plane);
    const before = (await scim('POST', '/Users', { userName: 'before@example.com' })).body.id;
    await plane.ask('PUT', '/organisations/self/auth-settings', { body: { scim: { membership_mode: 'users' } } });
    groups = [];
    for (const name of ['ws-Sales-role-member', 'ws-Sales-role-manager', 'Other']) {
      const { body } = await scim('POST', '/Groups', { displayName: name, members: [{ value: before }] });
      groups.push(body.id);
    }
  });
  afterAll(() => plane?.close());

  const refs = (...of: number[]) => of.map((n) => ({ value: groups[n] }));
  const groupsOf = (body: { groups: { value: string }[] }) => body.groups.map(({ value }) => groups.indexOf(value)).sort();
  const membersOf = async (n: number) => (await scim('GET', `/Groups/${groups[n]}`)).body.members ?? [];

  /** The role of a user in the workspace of the groups; null if they are no member. */
  async function roleOf(userId: string): Promise<string | null> {
    const { mappings } = (await plane.ask('GET', `/scim/workspaces?scim_group_id=${groups[0]}`)).body;
    const { body } = await plane.ask('GET', `/admin/workspaces/${mappings[0].workspace_id}/users`);
    return body.data.find((one: { id: string }) => one.id === userId)?.role ?? null;
  }

  it('ignore the members of groups', async () => {
    expect(await membersOf(0)).toEqual([]);
    const { id: user } = (await scim('POST', '/Users', { userName: 'ignored@example.com' })).body;
    const added = await scim('PATCH', `/Groups/${groups[0]}`, patch({ op: 'add', path: 'members', value: [{ value: user }] }));
    expect(added.status).toBe(204);
    const name = 'ws-Sales-role-member';
    expect((await scim('PUT', `/Groups/${groups[0]}`, { displayName: name, members: [{ value: user }] })).status).toBe(200);
    expect(await membersOf(0)).toEqual([]);
  });

  it('have the groups and roles that they are sent with', async () => {
    const made = await scim('POST', '/Users', { userName: 'sales@example.com', groups: refs(0, 2) });
    expect([made.status, groupsOf(made.body)]).toEqual([201, [0, 2]]);
    const { id } = made.body;
    expect(await roleOf(id)).toBe('member');

    const cases: readonly [operation: object, groups: number[], role: string | null][] = [
      [{ op: 'add', path: 'groups', value: refs(1) }, [0, 1, 2], 'manager'],
      [{ op: 'remove', path: `groups[value eq "${groups[1]}"]` }, [0, 2], 'member'],
      [{ op: 'Remove', path: 'groups', value: refs(0) }, [2], null],
      [{ op: 'replace', path: 'groups', value: refs(1) }, [1], 'manager'],
      [{ op: 'add', value: { groups: refs(0) } }, [0, 1], 'manager'],
      [{ op: 'remove', path: 'groups' }, [], null],
    ];
    for (const [operation, expected, role] of cases) {
      const { status, body } = await scim('PATCH', `/Users/${id}`, patch(operation));
      expect({ operation, status, groups: groupsOf(body) }).toEqual({ operation, status: 200, groups: expected });
      expect({ operation, role: await roleOf(id) }).toEqual({ operation, role });
    }

    const put = await scim('PUT', `/Users/${id}`, { userName: 'sales@example.com', groups: refs(0) });
    expect(groupsOf(put.body)).toEqual([0]);
    const kept = await scim('PUT', `/Users/${id}`, { userName: 'sales@example.com', title: 'Seller' });
    expect([groupsOf(kept.body), await roleOf(id)]).toEqual([[0], 'member']);
    await scim('PATCH', `/Users/${id}`, patch({ op: 'replace', path: 'active', value: false }));
    expect(await roleOf(id)).toBeNull();
  });

  it('write nothing if nothing changes, and count revisions of user and group otherwise', async () => {
    const sent = { userName: 'quiet@example.com', groups: refs(2, 1) };
    const made = (await scim('POST', '/Users', sent)).body;
    const before = await plane.auditCount();
    const same = await scim('PUT', `/Users/${made.id}`, sent);
    expect([same.status, same.body]).toEqual([200, made]);
    expect(await plane.auditCount()).toBe(before);

    const version = async () => (await scim('GET', `/Groups/${groups[2]}`)).headers.get('etag');
    const ofGroup = await version();
    const changed = await scim('PUT', `/Users/${made.id}`, { ...sent, groups: refs(1) });
    expect(changed.body.meta.version).not.toBe(made.meta.version);
    expect(await version()).not.toBe(ofGroup);
    expect(await plane.auditCount()).toBe(before + 1);
  });

  it('are rejected with unknown groups, also of another organisation', async () => {
    const other = await plane.newTenant();
    const foreign = (await (await scimClient(plane, other))('POST', '/Groups', { displayName: 'Foreign' })).body.id;
    const userName = 'unknown@example.com';
    for (const value of ['none', '0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b', foreign]) {
      const reply = await scim('POST', '/Users', { userName, groups: [{ value }] });
      expect(reply).toMatchObject({
        status: 400,
        body: { scimType: 'invalidValue', detail: `groups: ${value}: Group not found` },
      });
    }
    const shapeless = await scim('POST', '/Users', { userName, groups: ['x'] });
    expect(shapeless.status).toBe(400);
    expect((await scim('GET', `/Users?filter=userName eq "${userName}"`)).body.totalResults).toBe(0);
  });
});
