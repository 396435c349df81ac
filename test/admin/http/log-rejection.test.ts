import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabase } from '../support/test-database.ts';

let plane: Plane;
beforeAll(async () => {
  plane = await startPlane(ruleDatabase);
});
afterAll(() => plane.close());

const rejections = () => plane.log.lines.filter((line) => line.message === 'request rejected');

it('rejection log: one line at info per rejected request, with status, code, route, key id and no content', async () => {
  const before = rejections().length;
  const bad = await plane.ask('POST', '/configs', { body: { planted: 'content' } });
  await plane.ask('GET', '/configs', { key: 'svc_admin_wrong' });
  await plane.ask('GET', '/nothing-here');
  const lines = rejections().slice(before);
  expect(lines.map(({ level, fields }) => [level, fields.status, fields.code, fields.route])).toEqual([
    ['info', 400, 'AB01', 'POST /configs'],
    ['info', 401, 'AB05', 'GET /configs'],
    ['info', 404, 'AB08', 'none'],
  ]);
  expect(lines[0]?.fields.requestId).toBe(bad.headers.get('x-svc-request-id'));
  expect(lines[0]?.fields.keyId).toEqual(expect.any(String));
  expect(lines[1]?.fields.keyId).toBeNull();
  expect(JSON.stringify(lines)).not.toContain('planted');
});

it('rejection log: an agent that cannot be reached is a warning with the reason, not an error with a stack', async () => {
  const integration = { name: 'A', slug: 'agent-away', url: 'https://agent.example.com/a2a', auth_type: 'none' };
  const { workspaceId: workspace_id } = plane;
  await plane.ask('POST', '/agent-integrations', { body: { ...integration, workspace_id } });
  const server = { name: 'A', slug: 'agent-away', agent_integration_id: 'agent-away', workspace_id };
  const made = await plane.ask('POST', '/agent-servers', { body: server });
  const before = plane.log.lines.length;
  const reply = await plane.ask('GET', `/agent-servers/${made.body.id}/agent-card`);
  expect(reply.status).toBe(503);
  const lines = plane.log.lines.slice(before).filter(({ fields }) => 'requestId' in fields);
  expect(lines.map(({ level, message, fields }) => [level, message, fields.status, fields.reason])).toEqual([
    ['warn', 'request failed', 503, reply.body.data.message],
  ]);
});

it.each([
  ['GET', '/configs', 'emOf', undefined],
  ['POST', '/oauth/revoke', 'em', 'token=a&client_id=b'],
] as const)('rejection log: an exception in %s %s is an error with the route', async (method, path, part, body) => {
  const failing = vi.spyOn(plane.control.services.database, part).mockImplementation(() => {
    throw new Error('planted');
  });
  try {
    const before = plane.log.lines.length;
    const reply = await fetch(`${plane.url}/v1${path}`, {
      ...{ method, headers: { 'x-svc-api-key': plane.adminKey, 'content-type': 'application/x-www-form-urlencoded' }, body },
    });
    expect(reply.status).toBe(500);
    const failed = plane.log.lines.slice(before).filter(({ message }) => message === 'admin request failed');
    expect(failed.map(({ level, fields }) => [level, fields.route, fields.reason, fields.requestId])).toEqual([
      ['error', `${method} ${path}`, 'planted', reply.headers.get('x-request-id')],
    ]);
  } finally {
    failing.mockRestore();
  }
});

it.each([
  ['/configs/a/versoins', '/v1/configs/a/versions'],
  ['/admin/user', '/v1/admin/users'],
  ['/admin/workspace/w/users', '/v1/admin/workspaces/w/users'],
])('a misspelt route %s is a 404 that names the route %s', async (path, meant) => {
  const reply = await plane.ask('GET', path);
  expect([reply.status, reply.body.data.message]).toEqual([
    404,
    `There is no route GET /v1${path}; did you mean ${meant}? GET /v1/docs lists all routes`,
  ]);
});

it('a path with an empty id is a 404 that states this', async () => {
  const reply = await plane.ask('GET', '/admin/users//second-factors');
  expect([reply.status, reply.body.data.message]).toEqual([
    404,
    'There is no route GET /v1/admin/users//second-factors; an id or slug in it is empty; GET /v1/docs lists all routes',
  ]);
});

it('rejection log: names the route that does not exist', async () => {
  const reply = await plane.ask('GET', '/nothing-here');
  expect(reply.body.data.message).toBe('There is no route GET /v1/nothing-here; GET /v1/docs lists all routes');
});
