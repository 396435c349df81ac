import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Plane } from '../support/plane.ts';
import { startPlaneWithGateway } from '../support/plane-gateway.ts';
import { ruleDatabase } from '../support/test-database.ts';

/** Generated clients send path parameters a second time, in the body or the query, in snake case or camel case. */
let plane: Plane;
let userId: string;

beforeAll(async () => {
  plane = await startPlaneWithGateway(ruleDatabase);
  const email = 'ada@example.com';
  const body = { email, first_name: 'Ada', last_name: 'L', role: 'member', workspaces: [{ id: plane.workspaceId }] };
  userId = (await plane.ask('POST', '/admin/users', { body })).body.id;
});
afterAll(() => plane?.close());

async function newKeyId(): Promise<string> {
  const body = { name: 'k', scopes: ['completions.write'], workspace_id: plane.workspaceId };
  return (await plane.ask('POST', '/api-keys/workspace/service', { body })).body.id;
}

describe('path parameters in the body', () => {
  it.each([
    ['organisation', 'service', {}],
    ['workspace', 'service', {}],
    ['workspace', 'user', { user_id: 'ada' }],
  ])('POST /api-keys/%s/%s accepts type and sub-type', async (type, subType, owner) => {
    const path = type === 'workspace' ? { workspace_id: plane.workspaceId } : {};
    const scopes = type === 'workspace' ? ['completions.write'] : ['workspaces.list'];
    const body = { type, 'sub-type': subType, name: 'k', scopes, ...path, ...('user_id' in owner ? { user_id: userId } : {}) };
    expect(await plane.ask('POST', `/api-keys/${type}/${subType}`, { body })).toMatchObject({ status: 200 });
  });

  it('a type that differs from the path is rejected', async () => {
    const body = { type: 'organisation', 'sub-type': 'service', name: 'k', scopes: [], workspace_id: plane.workspaceId };
    const reply = await plane.ask('POST', '/api-keys/workspace/service', { body });
    expect(reply).toMatchObject({
      status: 400,
      body: { data: { errors: ['type: must equal the value in the path. Remove it from body and query'] } },
    });
  });

  it('PUT /api-keys/{id} accepts its own id and rejects another one', async () => {
    const [id, other] = [await newKeyId(), await newKeyId()];
    expect(await plane.ask('PUT', `/api-keys/${id}`, { body: { id, name: 'changed' } })).toMatchObject({ status: 200 });
    expect(await plane.ask('PUT', `/api-keys/${id}`, { body: { id: other } })).toMatchObject({
      status: 400,
      body: { data: { errors: ['id: must equal the value in the path. Remove it from body and query'] } },
    });
    expect(await plane.ask('PUT', `/api-keys/${id}`, { body: { id: 5 } })).toMatchObject({ status: 400 });
  });

  it.each(['user_id', 'userId'])('PUT of a member accepts %s and rejects another one', async (name) => {
    const path = `/admin/workspaces/${plane.workspaceId}/users/${userId}`;
    expect(await plane.ask('PUT', path, { body: { [name]: userId, role: 'manager' } })).toMatchObject({ status: 200 });
    const wrong = await plane.ask('PUT', path, { body: { [name]: plane.workspaceId, role: 'manager' } });
    expect(wrong.body.data.errors).toEqual([`${name}: must equal the value in the path. Remove it from body and query`]);
  });

  it.each(['workspace_id', 'workspaceId'])('DELETE /admin/workspaces/{id} accepts %s and rejects another one', async (name) => {
    const made = await plane.ask('POST', '/admin/workspaces', { body: { name: `for ${name}` } });
    const path = `/admin/workspaces/${made.body.id}`;
    const wrong = await plane.ask('DELETE', path, { body: { [name]: plane.workspaceId, name: `for ${name}` } });
    expect(wrong).toMatchObject({ status: 400 });
    const right = await plane.ask('DELETE', path, { body: { [name]: made.body.id, name: `for ${name}` } });
    expect(right).toMatchObject({ status: 200 });
  });

  it('are checked in a body that no schema reads', async () => {
    const id = await newKeyId();
    expect(await plane.ask('DELETE', `/api-keys/${id}`, { body: { id: plane.workspaceId } })).toMatchObject({ status: 400 });
    expect(await plane.ask('DELETE', `/api-keys/${id}`, { body: { id } })).toMatchObject({ status: 200 });
  });
});

describe('path parameters in the query', () => {
  const users = (query: string) => plane.ask('GET', `/admin/workspaces/${plane.workspaceId}/users?${query}`);

  it.each(['workspace_id', 'workspaceId'])('%s is accepted if it is the same and rejected if not', async (name) => {
    expect(await users(`${name}=${plane.workspaceId}`)).toMatchObject({ status: 200, body: { total: 1 } });
    const other = await plane.ask('POST', '/admin/workspaces', { body: { name: `other of ${name}` } });
    expect(await users(`${name}=${other.body.id}`)).toMatchObject({ status: 400 });
  });

  it('may name the workspace by slug in one place and by id in the other', async () => {
    const { slug } = (await plane.ask('GET', `/admin/workspaces/${plane.workspaceId}`)).body;
    expect(await users(`workspace_id=${slug}`)).toMatchObject({ status: 200, body: { total: 1 } });
  });
});

describe('the workspace in query and body', () => {
  const change = (query: string, workspace_id: string, key?: string) =>
    plane.ask('PUT', `/providers/mock?workspace_id=${query}`, { body: { workspace_id, note: 'x' }, ...(key ? { key } : {}) });

  it('is the same if one names its slug and the other its id', async () => {
    expect(await change('ws-default', plane.workspaceId)).toMatchObject({ status: 200 });
    expect(await change(plane.workspaceId.toUpperCase(), 'ws-default')).toMatchObject({ status: 200 });
    expect(await change('ws-default', plane.workspaceId, plane.workspaceKey)).toMatchObject({ status: 200 });
  });

  it('is rejected if they name two workspaces', async () => {
    await plane.ask('POST', '/admin/workspaces', { body: { name: 'two', slug: 'ws-two' } });
    const message = 'workspace_id: the request contains different values. Send one of them';
    for (const key of [plane.adminKey, plane.workspaceKey]) {
      expect(await change(plane.workspaceId, 'ws-two', key)).toMatchObject({ status: 400, body: { data: { message } } });
    }
    expect(await change('ws-two', 'ws-default', plane.workspaceKey)).toMatchObject({ status: 403 });
    expect(await change('ws-none', 'ws-default')).toMatchObject({ status: 404 });
  });
});

describe('fields that cannot change', () => {
  const checks = [{ id: 'default.contains', parameters: { words: ['x'], operator: 'none' } }];
  const server = { url: 'https://mcp.example.com/mcp', auth_type: 'none', transport: 'http' };
  const { transport: _, ...agent } = server;
  it.each([
    ['/integrations', { name: 'i', ai_provider_id: 'openai', key: 'k', create_default_provider: false }],
    ['/guardrails', { name: 'g', checks, actions: { deny: true } }],
    ['/mcp-integrations', { name: 'm', ...server }],
    ['/agent-integrations', { name: 'a', ...agent }],
    ['/labels', { name: 'l' }],
  ])('the owner of %s of the organisation can be sent back', async (list, body) => {
    const path = `${list}/${(await plane.ask('POST', list, { body })).body.id}`;
    const { workspace_id } = (await plane.ask('GET', path)).body;
    expect(workspace_id).toBeNull();
    expect(await plane.ask('PUT', path, { body: { workspace_id } })).toMatchObject({ status: 200 });
  });

  it('type, user and workspace of an API key can be sent back', async () => {
    const owners = { service: {}, user: { user_id: userId } };
    for (const [kind, owner] of Object.entries(owners)) {
      const body = { name: 'k', scopes: ['completions.write'], workspace_id: plane.workspaceId, ...owner };
      const path = `/api-keys/${(await plane.ask('POST', `/api-keys/workspace/${kind}`, { body })).body.id}`;
      const { type, user_id, workspace_id } = (await plane.ask('GET', path)).body;
      expect(await plane.ask('PUT', path, { body: { type, user_id, workspace_id } })).toMatchObject({ status: 200 });
      const otherUser = user_id === null ? userId : null;
      for (const [field, value] of Object.entries({ type: 'organisation-service', user_id: otherUser })) {
        const message = `${field}: cannot be changed. Create a new one instead`;
        expect(await plane.ask('PUT', path, { body: { [field]: value } })).toMatchObject({
          status: 400,
          body: { data: { message } },
        });
      }
    }
    const ofOrganisation = { body: { name: 'o', scopes: ['audit_logs.list'] } };
    const path = `/api-keys/${(await plane.ask('POST', '/api-keys/organisation/service', ofOrganisation)).body.id}`;
    const { type, user_id, workspace_id } = (await plane.ask('GET', path)).body;
    expect([user_id, workspace_id]).toEqual([null, null]);
    expect(await plane.ask('PUT', path, { body: { type, user_id, workspace_id } })).toMatchObject({ status: 200 });
  });

  it('the slug of a workspace can be sent back', async () => {
    const { id, slug } = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'three' } })).body;
    const change = (sent: string) => plane.ask('PUT', `/admin/workspaces/${id}`, { body: { slug: sent, name: 'four' } });
    expect(await change(slug)).toMatchObject({ status: 200 });
    expect(await change('ws-four')).toMatchObject({ status: 400, body: { data: { message: expect.stringMatching(/^slug: /) } } });
  });
});

describe('spelling of query parameters', () => {
  it.each(['/admin/workspaces', '/admin/users', '/admin/users/invites', '/api-keys', '/providers', '/integrations', '/configs'])(
    '%s accepts paging in camel case',
    async (path) => {
      expect(await plane.ask('GET', `${path}?currentPage=0&pageSize=1`)).toMatchObject({ status: 200 });
      expect(await plane.ask('GET', `${path}?currentPage=0&current_page=1`)).toMatchObject({ status: 400 });
      expect(await plane.ask('GET', `${path}?pageSize=0`)).toMatchObject({ status: 400 });
      expect(await plane.ask('GET', `${path}?page_size=101`)).toMatchObject({ status: 400 });
    },
  );
});
