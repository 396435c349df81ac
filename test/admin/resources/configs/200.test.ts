import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectChange } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('accepted configs, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const fallback = { strategy: { mode: 'fallback' }, targets: [{ provider: '@mock' }, { provider: 'openai' }] };

  it('are stored, with a receipt as the reply', async () => {
    const reply = await expectChange(
      plane,
      () => plane.ask('POST', '/configs', { body: { name: 'First', slug: 'first', config: fallback } }),
      {
        resource: 'configs',
        action: 'create',
        events: [`config ${plane.workspaceId}/first upsert`],
      },
    );
    const receipt = { id: expect.any(String), version_id: expect.any(String), slug: 'first', object: 'config' };
    expect(reply.body).toEqual({ success: true, ...receipt, data: receipt });
    const read = await plane.ask('GET', '/configs/first');
    expect(read.body.data).toMatchObject({
      id: reply.body.data.id,
      version_id: reply.body.data.version_id,
      workspace_id: plane.workspaceId,
      organisation_id: plane.organisationId,
      is_default: 0,
      status: 'active',
      config: fallback,
    });
    expect((await plane.ask('GET', `/configs/${reply.body.data.id}`)).body.data.slug).toBe('first');
  });

  it('may be sent as text, and get a slug from their name', async () => {
    const reply = await plane.ask('POST', '/configs', { body: { name: 'Über Config!', config: '{"retry":{"attempts":2}}' } });
    expect(reply.body.data.slug).toMatch(/^pc-u-?ber-config-[0-9a-f]{6}$/);
    expect((await plane.ask('GET', `/configs/${reply.body.data.slug}`)).body.data.config).toEqual({ retry: { attempts: 2 } });
  });

  it('get a new version only if the content changes', async () => {
    const made = (await plane.ask('POST', '/configs', { body: { name: 'Versions', slug: 'versions', config: fallback } })).body
      .data;
    const reordered = { targets: fallback.targets, strategy: fallback.strategy };
    const same = await plane.ask('PUT', '/configs/versions', { body: { name: 'Renamed', config: reordered } });
    expect(same.body.data.version_id).toBe(made.version_id);
    const changed = await expectChange(
      plane,
      () => plane.ask('PUT', '/configs/versions', { body: { config: { provider: '@mock' } } }),
      {
        resource: 'configs',
        action: 'update',
        events: [`config ${plane.workspaceId}/versions upsert`],
      },
    );
    expect(changed.body.data.version_id).not.toBe(made.version_id);
    const versions = (await plane.ask('GET', '/configs/versions/versions')).body;
    expect(versions.total).toBe(2);
    expect(versions.data.map((one: { config: string }) => JSON.parse(one.config))).toEqual([{ provider: '@mock' }, fallback]);
    expect(versions.data[1].version_id).toBe(made.version_id);
    expect(versions.data[0].name).toBe('Renamed');
  });

  it('include one default per workspace, whose change is announced with the workspace', async () => {
    const body = (slug: string) => ({ name: slug, slug, config: { provider: '@mock' }, isDefault: 1 });
    await expectChange(plane, () => plane.ask('POST', '/configs', { body: body('default-a') }), {
      resource: 'configs',
      action: 'create',
      events: [`config ${plane.workspaceId}/default-a upsert`, `workspace ${plane.workspaceId} upsert`],
    });
    const tagOf = async (slug: string) => (await plane.ask('GET', `/configs/${slug}`)).headers.get('etag');
    const before = await tagOf('default-a');
    await plane.ask('POST', '/configs', { body: body('default-b') });
    expect(await tagOf('default-a')).not.toBe(before);
    const list = (await plane.ask('GET', '/configs')).body.data as { slug: string; is_default: number }[];
    expect(list.filter((one) => one.is_default === 1).map((one) => one.slug)).toEqual(['default-b']);
  });

  it('are archived: gone from reads and lists, and gateways are notified', async () => {
    await plane.ask('POST', '/configs', { body: { name: 'Gone', slug: 'gone', config: { provider: '@mock' } } });
    const reply = await expectChange(plane, () => plane.ask('DELETE', '/configs/gone'), {
      resource: 'configs',
      action: 'delete',
      events: [`config ${plane.workspaceId}/gone delete`],
    });
    expect(reply.body).toEqual({});
    expect((await plane.ask('GET', '/configs/gone')).status).toBe(404);
    expect(JSON.stringify((await plane.ask('GET', '/configs')).body)).not.toContain('"gone"');
  });

  it('are listed in pages, newest first', async () => {
    const all = (await plane.ask('GET', '/configs')).body;
    const second = (await plane.ask('GET', '/configs?page_size=1&current_page=1')).body;
    expect(second.total).toBe(all.total);
    expect(second.data).toEqual([all.data[1]]);
  });

  it('are also served under /v2 and to the workspace key', async () => {
    const reply = await fetch(`${plane.url}/v2/configs/first`, { headers: { authorization: `Bearer ${plane.workspaceKey}` } });
    expect(reply.status).toBe(200);
    expect((await reply.json()) as object).toMatchObject({ data: { slug: 'first' } });
  });
});
