import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabase } from '../support/test-database.ts';

/** Organisation keys and items of a workspace that the path names by slug. */
let plane: Plane;
let other: { id: string; slug: string };

beforeAll(async () => {
  plane = await startPlane(ruleDatabase);
  other = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'other' } })).body;
});
afterAll(() => plane?.close());

const kinds = [
  ['/configs', { config: { retry: { attempts: 1 } } }],
  ['/providers', { provider: 'openai', key: 'sk-0123456789abcdef' }],
  ['/virtual-keys', { provider: 'openai', key: 'sk-0123456789abcdef' }],
] as const;

async function make(path: string, body: object, slug: string, workspaceId: string): Promise<void> {
  const reply = await plane.ask('POST', path, { body: { name: slug, slug, workspace_id: workspaceId, ...body } });
  expect(reply).toMatchObject({ status: 200 });
}

describe.each(kinds)('%s', (path, body) => {
  const slug = (name: string) => `${path.slice(1)}-${name}`;

  it('with a slug of one workspace needs no workspace_id', async () => {
    await make(path, body, slug('once'), other.id);
    const item = `${path}/${slug('once')}`;
    expect(await plane.ask('GET', item)).toMatchObject({ status: 200, body: { slug: slug('once') } });
    expect(await plane.ask('PUT', item, { body: { name: 'changed' } })).toMatchObject({ status: 200 });
    expect(await plane.lastAudit()).toMatchObject({ workspaceId: other.id, action: 'update' });
    expect(await plane.ask('DELETE', item)).toMatchObject({ status: 200 });
    expect(await plane.ask('GET', item)).toMatchObject({ status: 404 });
  });

  it('with a slug of two workspaces is rejected with their names', async () => {
    await make(path, body, slug('twice'), plane.workspaceId);
    await make(path, body, slug('twice'), other.id);
    const reply = await plane.ask('GET', `${path}/${slug('twice')}`);
    expect(reply.status).toBe(400);
    expect(reply.body.data.message).toMatch(/^workspace_id: required, because several workspaces have this slug: /);
    expect(reply.body.data.message).toContain(`${other.slug} (${other.id})`);
    expect(reply.body.data.message).toContain(plane.workspaceId);
    const named = await plane.ask('GET', `${path}/${slug('twice')}?workspace_id=${other.id}`);
    expect(named).toMatchObject({ status: 200, body: { workspace_id: other.id } });
  });

  it('with a slug of another organisation is not found', async () => {
    await make(path, body, slug('own'), plane.workspaceId);
    const stranger = await plane.newTenant();
    const reply = await plane.ask('GET', `${path}/${slug('own')}`, { key: stranger.adminKey });
    expect(reply.status).toBe(404);
  });
});

it('slug without workspace: POST /virtual-keys/migrate accepts the slug of a virtual key', async () => {
  const key = { provider: 'openai', key: 'sk-0123456789abcdef' };
  await make('/virtual-keys', key, 'to-migrate', other.id);
  const migrate = (id: string) => plane.ask('POST', '/virtual-keys/migrate', { body: { virtual_key_id: id } });
  expect(await migrate('to-migrate')).toMatchObject({ status: 200, body: { data: { slug: 'to-migrate' } } });
  expect(await plane.lastAudit()).toMatchObject({ workspaceId: other.id, action: 'migrate' });
  await make('/virtual-keys', key, 'to-migrate', plane.workspaceId);
  const twice = await migrate('to-migrate');
  expect(twice.status).toBe(400);
  expect(twice.body.data.message).toMatch(/^workspace_id: required, because several workspaces have this slug: /);
  expect(await migrate('none')).toMatchObject({ status: 404, body: { data: { errorCode: 'AB02' } } });
});

it('slug without workspace: config replies carry their fields at the top and under data', async () => {
  const config = { retry: { attempts: 2 } };
  const made = await plane.ask('POST', '/configs', { body: { name: 'both', config, workspace_id: other.id } });
  const { success, data, ...top } = made.body;
  expect(success).toBe(true);
  expect(top).toEqual(data);
  expect(top).toMatchObject({ slug: expect.any(String), version_id: expect.any(String) });
  const read = (await plane.ask('GET', `/configs/${top.slug}`)).body;
  expect(read).toMatchObject({ id: top.id, config, data: { id: top.id, config } });
  const changed = (await plane.ask('PUT', `/configs/${top.slug}`, { body: { config: { retry: { attempts: 3 } } } })).body;
  expect(changed.version_id).not.toBe(top.version_id);
  expect(changed.data).toEqual({ version_id: changed.version_id });
  const version = (await plane.ask('GET', `/configs/${top.slug}/versions/${top.version_id}`)).body;
  expect(version).toMatchObject({ version_id: top.version_id, data: { version_id: top.version_id, config } });
});
