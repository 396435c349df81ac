import { afterAll, beforeAll, expect, it } from 'vitest';
import { adminRoutes } from '../../../admin/tables.ts';
import { requiredQuery } from '../isolation/walk.ts';
import { newPerson } from '../support/people.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabase } from '../support/test-database.ts';

let plane: Plane;
let members: readonly (readonly [role: string, token: string])[];
beforeAll(async () => {
  plane = await startPlane(ruleDatabase, { ADMIN_REQUESTS_PER_KEY: '0', ADMIN_REQUESTS_PER_ADDRESS: '0' });
  const made = await plane.ask('POST', '/workspaces', { body: { name: 'Acquisition', slug: 'acquisition' } });
  expect(made.status).toBe(200);
  const tokenOf = async (role: 'manager' | 'member') =>
    [role, (await newPerson(plane, 'member', [{ id: plane.workspaceId, role }])).token] as const;
  members = [await tokenOf('manager'), await tokenOf('member')];
});
afterAll(() => plane?.close());

const lists = adminRoutes.filter(
  ({ method, path, query }) =>
    method === 'GET' && !path.includes(':') && 'workspace_id' in ((query as { entries?: object }).entries ?? {}),
);

it.each(lists.map(({ path }) => path))('GET %s: members cannot tell a workspace of others from none', async (path) => {
  for (const [role, key] of members) {
    const ask = async (name: string) => {
      const { status, body } = await plane.ask('GET', `${path}?${requiredQuery(path)}workspace_id=${name}`, { key });
      return { role, status, text: JSON.stringify(body).replaceAll(name, '<name>') };
    };
    expect(await ask('acquisition')).toEqual(await ask('no-such-name'));
  }
});

const ofWorkspaces = adminRoutes.filter(({ path }) => path.includes('/:workspaceId'));

it.each(ofWorkspaces.map(({ method, path }) => [method, path] as const))(
  '%s %s: members who have selected a workspace cannot tell one of others from none',
  async (method, path) => {
    for (const [role, key] of members) {
      const ask = async (name: string) => {
        const at = path.replace(':workspaceId', name).replaceAll(/:\w+/g, '00000000-0000-4000-8000-000000000000');
        const options = { key, headers: { 'x-svc-workspace': plane.workspaceId }, ...(method === 'GET' ? {} : { body: {} }) };
        const { status, body } = await plane.ask(method, at, options);
        return { role, status, text: JSON.stringify(body).replaceAll(name, '<name>') };
      };
      expect(await ask('acquisition')).toEqual(await ask('no-such-name'));
    }
  },
);
