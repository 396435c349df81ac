import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Plane, startPlane } from '../support/plane.ts';
import { type ScimAsk, scimClient } from '../support/scim-client.ts';
import { arrive, newConnection, verifiedDomain } from '../support/sign-in.ts';
import { ruleDatabase } from '../support/test-database.ts';

let plane: Plane;
let scim: ScimAsk;
let connectionId: string;
let workspaceId: string;
beforeAll(async () => {
  plane = await startPlane(ruleDatabase, { ADMIN_REQUESTS_PER_ADDRESS: '0', ADMIN_REQUESTS_PER_KEY: '0' });
  scim = await scimClient(plane);
  workspaceId = (await plane.ask('POST', '/workspaces', { body: { name: 'Shared' } })).body.id;
  const group_rules = [
    { group: 'staff', workspaces: [{ id: workspaceId, role: 'member' }] },
    { group: 'guests', workspaces: [] },
  ];
  connectionId = await newConnection(plane, { group_rules });
});
afterAll(() => plane?.close());

const arriveAs = (subject: string, group: string) => arrive(plane, { connectionId, subject, groups: [group] });

const role = async (userId: string) => {
  const { status, body } = await plane.ask('GET', `/workspaces/${workspaceId}/users/${userId}`);
  return status === 200 ? body.role : null;
};

/** A group of the directory that makes its members managers of the workspace. */
async function newGroup(name: string, members: readonly string[]): Promise<string> {
  const group = await scim('POST', '/Groups', { displayName: name, members: members.map((value) => ({ value })) });
  expect(group.status).toBe(201);
  const body = { workspace_id: workspaceId, scim_group_id: group.body.id, role: 'manager' };
  const mapped = await plane.ask('POST', '/scim/workspaces', { body });
  expect(mapped.status, JSON.stringify(mapped.body)).toBe(200);
  return group.body.id;
}

it('a group rule does not change the role that a group of the directory gave', async () => {
  const made = await scim('POST', '/Users', { userName: `ada@${verifiedDomain}` });
  const group = await newGroup('managers', [made.body.id]);
  expect(await role(made.body.id)).toBe('manager');
  const { user } = await arriveAs('ada', 'staff');
  expect([user.id, await role(user.id)]).toEqual([made.body.id, 'manager']);
  await arriveAs('ada', 'guests');
  expect(await role(user.id)).toBe('manager');
  expect((await scim('DELETE', `/Groups/${group}`)).status).toBe(204);
  expect(await role(user.id)).toBeNull();
});

it('a membership that a group rule gave follows the group of the directory when the rule no longer applies', async () => {
  const { user } = await arriveAs('bob', 'staff');
  const key = { workspace_id: workspaceId, user_id: user.id, name: 'own', scopes: ['completions.write'] };
  const { id } = (await plane.ask('POST', '/api-keys/workspace/user', { body: key })).body;
  const group = await newGroup('later managers', [user.id]);
  expect(await role(user.id)).toBe('member');
  await arriveAs('bob', 'guests');
  expect(await role(user.id)).toBe('manager');
  expect((await plane.ask('GET', `/api-keys/${id}`)).status).toBe(200);
  expect((await scim('DELETE', `/Groups/${group}`)).status).toBe(204);
  expect(await role(user.id)).toBeNull();
});
