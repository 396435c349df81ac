import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vaultReference } from '../resources/secret-references/probes.ts';
import { newPerson, type Person } from '../support/people.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

const roles = ['owner', 'admin', 'member', 'ws admin', 'ws manager', 'ws member', 'ws viewer'] as const;
type Role = (typeof roles)[number];

/** The actions of each role: `y` or `n` in the order of `roles`, and the request that is sent. */
const matrix: readonly [action: string, allowed: string, ask: (plane: Plane, second: string, spare: Person) => Request][] = [
  ['change the settings of the organisation', 'yynnnnn', () => ['PUT', '/organisations/self', { name: 'Acme' }]],
  ['read the settings of the organisation', 'yyyyyyy', () => ['GET', '/organisations/self']],
  ['make workspaces', 'yynnnnn', () => ['POST', '/admin/workspaces', { name: 'W' }]],
  ['make admin keys', 'yynnnnn', () => ['POST', '/api-keys/organisation/service', { name: 'K', scopes: ['configs.list'] }]],
  ['invite people', 'yynnnnn', () => ['POST', '/admin/users/invites', { email: email(), role: 'member', workspaces: [] }]],
  ['list people', 'yynnnnn', () => ['GET', '/admin/users']],
  ['read the audit trail', 'yynnnnn', ({ organisationId }) => ['GET', auditPath(organisationId)]],
  ['reach workspaces they are in', 'yynyyyy', ({ workspaceId }) => ['GET', `/workspaces/${workspaceId}`]],
  ['reach all workspaces', 'yynnnnn', (_, second) => ['GET', `/workspaces/${second}`]],
  ['change the workspace', 'yynyynn', ({ workspaceId }) => ['PUT', `/workspaces/${workspaceId}`, { description: 'd' }]],
  [
    'bring members in',
    'yynyynn',
    ({ workspaceId }, _, spare) => ['POST', `/workspaces/${workspaceId}/users`, { users: [{ id: spare.id }] }],
  ],
  ['see who is in', 'yynyynn', ({ workspaceId }) => ['GET', `/workspaces/${workspaceId}/users`]],
  [
    'make keys of the workspace',
    'yynyynn',
    ({ workspaceId }) => [
      'POST',
      '/api-keys/workspace/service',
      { name: 'K', scopes: ['completions.write'], workspace_id: workspaceId },
    ],
  ],
  [
    'make configs',
    'yynyynn',
    ({ workspaceId }) => ['POST', '/configs', { name: 'C', config: { provider: '@mock' }, workspace_id: workspaceId }],
  ],
  [
    'make integrations of the workspace',
    'yynyynn',
    ({ workspaceId }) => [
      'POST',
      '/integrations',
      { name: 'I', ai_provider_id: 'openai', key: 'sk-test', workspace_id: workspaceId },
    ],
  ],
  ['see secret references', 'yynnnnn', () => ['GET', '/secret-references']],
  ['make secret references', 'yynnnnn', () => ['POST', '/secret-references', vaultReference]],
  ['see configs', 'yynyyyy', ({ workspaceId }) => ['GET', `/configs?workspace_id=${workspaceId}`]],
  ['see providers', 'yynyyyy', ({ workspaceId }) => ['GET', `/providers?workspace_id=${workspaceId}`]],
];

type Request = [method: string, path: string, body?: unknown];

let count = 0;
const email = () => `invited-${++count}@example.com`;
const auditPath = (id: string) =>
  `/audit-logs?organisation_id=${id}&start_time=2020-01-01T00:00:00Z&end_time=2040-01-01T00:00:00Z`;

describe.each(ruleDatabases)('access matrix, on %s', (database) => {
  let plane: Plane;
  let second: string;
  const people = new Map<Role, Person>();
  beforeAll(async () => {
    plane = await startPlane(database);
    second = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Second' } })).body.id;
    for (const role of ['owner', 'admin', 'member'] as const) people.set(role, await newPerson(plane, role));
    for (const role of ['admin', 'manager', 'member', 'viewer'] as const) {
      people.set(`ws ${role}`, await newPerson(plane, 'member', [{ id: plane.workspaceId, role }]));
    }
  });
  afterAll(() => plane?.close());

  for (const [action, allowed, request] of matrix) {
    it.each(roles.map((role, index) => ({ role, may: allowed[index] === 'y' })))(
      `${action}: $role, $may`,
      async ({ role, may }) => {
        const spare = await newPerson(plane);
        const [method, path, body] = request(plane, second, spare);
        const audits = await plane.auditCount();
        const reply = await plane.ask(method, path, { key: people.get(role)?.token ?? '', body });
        if (may) expect(reply.status, JSON.stringify(reply.body)).toBe(200);
        else expect([400, 403, 404], JSON.stringify(reply.body)).toContain(reply.status);
        if (method !== 'GET') {
          expect(await plane.auditCount()).toBe(audits + 1);
          expect(await plane.lastAudit()).toMatchObject({
            userId: people.get(role)?.id,
            userType: 'user',
            responseStatusCode: reply.status,
          });
        }
      },
    );
  }

  it('only roles above a workspace can delete it', async () => {
    const { id } = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Third' } })).body;
    const inside = await newPerson(plane, 'member', [{ id, role: 'admin' }]);
    const remove = (key: string) =>
      plane.ask('DELETE', `/workspaces/${id}`, { key, body: { name: 'Third', force_delete: true } });
    expect((await remove(inside.token)).status).toBe(403);
    expect((await remove((people.get('admin') as Person).token)).status).toBe(200);
    expect((await plane.ask('GET', '/auth/self', { key: inside.token })).body.workspaces).toEqual([]);
  });

  it('changed settings of the organisation apply at once, to users and their keys', async () => {
    const member = people.get('ws member') as Person;
    const key = await plane.ask('POST', '/api-keys/workspace/user', {
      body: { name: 'K', scopes: ['configs.create', 'configs.list'], user_id: member.id, workspace_id: plane.workspaceId },
    });
    const make = (by: string) => plane.ask('POST', '/configs', { key: by, body: { name: 'C', config: { provider: '@mock' } } });
    const set = async (security_settings: Record<string, boolean>) =>
      expect((await plane.ask('PUT', '/organisations/self', { body: { security_settings } })).status).toBe(200);
    for (const by of [member.token, key.body.key]) expect((await make(by)).status).toBe(403);
    await set({ membersWriteConfigs: true });
    for (const by of [member.token, key.body.key]) expect((await make(by)).status).toBe(200);
    await set({ membersWriteConfigs: false, membersViewConfigs: false });
    for (const by of [member.token, key.body.key]) {
      expect((await make(by)).status).toBe(403);
      expect((await plane.ask('GET', '/configs', { key: by })).status).toBe(403);
    }
  });
});
