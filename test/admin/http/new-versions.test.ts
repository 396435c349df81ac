import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SamplesMade } from '../../../admin/define-resource.ts';
import { samples } from '../../../admin/tables.ts';
import { newPerson } from '../support/people.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { type PlaneGateway, startPlaneGateway } from '../support/plane-gateway.ts';
import { makeOneOfEverything } from '../support/samples.ts';
import { ruleDatabase } from '../support/test-database.ts';

let gateway: PlaneGateway;
let plane: Plane;
let made: SamplesMade;
let userId: string;
const shared = new Map<string, string>();
beforeAll(async () => {
  gateway = await startPlaneGateway();
  plane = await startPlane(ruleDatabase, { GATEWAY_URL: gateway.url });
  gateway.serve(plane);
  made = await makeOneOfEverything(plane, plane, 'tagged');
  // Those of the samples belong to a workspace and cannot be shared.
  for (const create of ['/mcp-integrations', '/agent-integrations']) {
    const sample = samples.find((one) => one.create === create);
    const { workspace_id: _, ...body } = sample?.body(plane, made, 2, 'shared') ?? {};
    const reply = await plane.ask('POST', create, { body });
    shared.set(create, String(sample?.idOf(reply.body)));
  }
  userId = (await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'member' }])).id;
});
afterAll(async () => {
  await gateway?.close();
  await plane?.close();
});

const own = () => ({ id: plane.workspaceId, enabled: true });

/** Changes of items without a sample, and of parts of items: the path, and the body of a change. */
const changes: Readonly<Record<string, () => readonly [path: string, body: object]>> = {
  'the organisation': () => ['/organisations/self', { name: 'New' }],
  'auth settings': () => [`/organisations/${plane.organisationId}/auth-settings`, { disable_auto_provision_user: true }],
  'guardrails of all workspaces': () => ['/admin/organisation/defaults', { input_guardrails: [] }],
  'a user': () => [`/admin/users/${userId}`, { first_name: 'Ada' }],
  'a membership': () => [`/workspaces/${plane.workspaceId}/users/${userId}`, { role: 'manager' }],
  'models of an integration': () => [
    `/integrations/${made['/integrations']}/models`,
    { models: [{ slug: 'one', enabled: true }] },
  ],
  'workspaces of an integration': () => [`/integrations/${made['/integrations']}/workspaces`, { workspaces: [own()] }],
  'workspaces of an MCP integration': () => [
    `/mcp-integrations/${shared.get('/mcp-integrations')}/workspaces`,
    { workspaces: [own()] },
  ],
  'workspaces of an agent integration': () => [
    `/agent-integrations/${shared.get('/agent-integrations')}/workspaces`,
    { workspaces: [own()] },
  ],
};

it.each(Object.keys(changes))('%s: the reply to a change has the version that the next change names', async (name) => {
  const [path, body] = changes[name]?.() ?? [''];
  const before = await plane.ask('GET', path);
  const put = (etag: string | null) => plane.ask('PUT', path, { body, headers: { 'if-match': etag ?? 'none' } });
  const first = await put(before.headers.get('etag'));
  expect(first.status, JSON.stringify(first.body)).toBe(200);
  expect(first.headers.get('etag')).toBe((await plane.ask('GET', path)).headers.get('etag'));
  expect((await put(first.headers.get('etag'))).status).toBe(200);
});

it('a rotated key has the version that its next change names', async () => {
  const { id } = (await plane.ask('POST', '/api-keys/organisation/service', { body: { name: 'n', scopes: ['configs.list'] } }))
    .body;
  const rotated = await plane.ask('POST', `/api-keys/${id}/rotate`, { body: {} });
  const headers = { 'if-match': rotated.headers.get('etag') ?? 'none' };
  expect((await plane.ask('PUT', `/api-keys/${id}`, { body: { name: 'm' }, headers })).status).toBe(200);
});
