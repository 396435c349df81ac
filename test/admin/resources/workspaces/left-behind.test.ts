import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiKeys } from '../../../../admin/resources/api-keys/entity.ts';
import { workspaceMembers } from '../../../../admin/resources/workspace-users/entity.ts';
import { newPerson } from '../../support/people.ts';
import { type Plane, type Reply, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

/** Requests of each kind that run during a removal. */
const atOnce = 6;
const rounds = 3;
const times = <T>(make: (index: number) => T): T[] => Array.from({ length: atOnce }, (_, index) => make(index));

describe.each(ruleDatabases)('deletions leave nothing behind, also with concurrent changes, on %s', (database) => {
  let plane: Plane;
  let round = 0;
  beforeAll(async () => {
    plane = await startPlane(database, { ADMIN_REQUESTS_PER_KEY: '0', ADMIN_REQUESTS_PER_ADDRESS: '0' });
    const on = { settings: { user_api_key_auto_create: true } };
    expect((await plane.ask('PUT', '/organisations/self', { body: on })).status).toBe(200);
  });
  afterAll(() => plane?.close());

  const em = () => plane.control.services.database.em();
  const newWorkspace = async (): Promise<string> =>
    (await plane.ask('POST', '/workspaces', { body: { name: 'Lab', slug: `lab-${++round}` } })).body.id;
  const makeKey = (workspace_id: string, user?: string) =>
    plane.ask('POST', `/api-keys/workspace/${user ? 'user' : 'service'}`, {
      body: { workspace_id, name: 'k', scopes: ['configs.list'], ...(user ? { user_id: user } : {}) },
    });
  /** None of them is an internal error. */
  const statuses = (replies: readonly Reply[]) => [...new Set(replies.map((reply) => reply.status))].filter((one) => one >= 500);

  it('workspace: no keys and no members of it', async () => {
    const people = await Promise.all(times(() => newPerson(plane)));
    for (let i = 0; i < rounds; i++) {
      const id = await newWorkspace();
      const [removed, ...made] = await Promise.all([
        plane.ask('DELETE', `/workspaces/${id}`, { body: { name: 'Lab', force_delete: true } }),
        ...times(() => makeKey(id)),
        ...times((index) => plane.ask('POST', `/workspaces/${id}/users`, { body: { users: [{ id: people[index]?.id }] } })),
      ]);
      expect([removed?.status, statuses(made)]).toEqual([200, []]);
      expect(await em().count(apiKeys, { workspaceId: id })).toBe(0);
      expect(await em().count(workspaceMembers, { workspaceId: id })).toBe(0);
      for (const { body } of made.filter((reply) => reply.body.key)) {
        expect((await plane.ask('GET', '/configs', { key: body.key })).status).toBe(401);
      }
    }
  });

  it('user: no keys and no memberships', async () => {
    for (let i = 0; i < rounds; i++) {
      const id = await newWorkspace();
      const user = (await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'member' }])).id;
      const [removed, ...made] = await Promise.all([
        plane.ask('DELETE', `/admin/users/${user}`),
        ...times(() => makeKey(plane.workspaceId, user)),
        plane.ask('POST', `/workspaces/${id}/users`, { body: { users: [{ id: user }] } }),
      ]);
      expect([removed?.status, statuses(made)]).toEqual([200, []]);
      expect(await em().count(apiKeys, { userId: user })).toBe(0);
      expect(await em().count(workspaceMembers, { userId: user })).toBe(0);
    }
  });

  it('membership: no keys of the user in the workspace', async () => {
    for (let i = 0; i < rounds; i++) {
      const user = (await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'member' }])).id;
      const [removed, ...made] = await Promise.all([
        plane.ask('DELETE', `/workspaces/${plane.workspaceId}/users/${user}`),
        ...times(() => makeKey(plane.workspaceId, user)),
      ]);
      expect([removed?.status, statuses(made)]).toEqual([200, []]);
      expect(await em().count(apiKeys, { userId: user })).toBe(0);
    }
  });
});
