import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';
import { greeting } from './probes.ts';

describe.each(ruleDatabases)('sharing of prompts and partials, on %s', (database) => {
  let plane: Plane;
  let other: { id: string; slug: string; key: string };
  beforeAll(async () => {
    plane = await startPlane(database);
    other = await newWorkspace('Other');
  });
  afterAll(() => plane?.close());

  async function newWorkspace(name: string) {
    const { id, slug } = (await plane.ask('POST', '/workspaces', { body: { name } })).body;
    const scopes = ['list', 'read', 'create', 'update', 'delete', 'publish'].map((action) => `prompts.${action}`);
    const key = (await plane.ask('POST', '/api-keys/workspace/service', { body: { name: 'k', scopes, workspace_id: id } })).body
      .key;
    return { id: id as string, slug: slug as string, key: key as string };
  }
  const ask = async (method: string, path: string, body?: unknown, key = plane.workspaceKey) =>
    plane.ask(method, path, { body, key });
  const make = async (path: '/prompts' | '/prompts/partials', more: object = {}) => {
    const body = path === '/prompts' ? { ...greeting, ...more } : { name: 'Partial', string: 'Hello', ...more };
    const reply = await ask('POST', path, body);
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    return reply.body as { id: string; slug: string };
  };
  const document = async (kind: string, name: string) =>
    (await plane.internal('GET', `/documents/${kind}/${encodeURIComponent(name)}`)).body.document;

  it.each([
    ['/prompts', 'prompt', 'prompts'],
    ['/prompts/partials', 'prompt-partial', 'prompt_partials'],
  ] as const)('%s: with listed workspaces, with the organisation, and with none again', async (path, kind, resource) => {
    const { id, slug } = await make(path);
    const item = `${path}/${slug}`;
    expect((await ask('GET', item, undefined, other.key)).status).toBe(404);
    const ids = (owner: string, op: string) => [slug, id].map((name) => `${kind} ${owner}/${name} ${op}`);
    const shared = await expectChange(plane, () => ask('POST', `${item}/share`, { shared_with: [other.slug] }), {
      ...{ resource, action: 'share' },
      events: [...ids(plane.workspaceId, 'upsert'), ...ids(plane.organisationId, 'upsert')],
    });
    expect(shared.body).toMatchObject({ id, slug, workspace_id: plane.workspaceId, shared_with: [other.id] });
    expect((await document(kind, `${plane.organisationId}/${slug}`)).sharedWith).toEqual([other.id]);
    for (const read of [item, `${item}@1`, `${item}/versions`, `${item}/share`])
      expect((await ask('GET', read, undefined, other.key)).status, read).toBe(200);
    const third = await newWorkspace('Third');
    expect((await ask('GET', item, undefined, third.key)).status).toBe(404);
    await ask('POST', `${item}/share`, { shared_with: [third.id] });
    expect((await ask('GET', `${item}/share`)).body.shared_with).toEqual([other.id, third.id].sort());
    await ask('PUT', `${item}/share`, { shared_with: [third.id] });
    expect((await ask('GET', item, undefined, other.key)).status).toBe(404);
    await ask('POST', `${item}/unshare`, { shared_with: [third.id] });
    expect((await ask('GET', `${item}/share`)).body.shared_with).toBeNull();
    await ask('PUT', `${item}/share`, { shared_with: 'organisation' });
    expect((await document(kind, `${plane.organisationId}/${id}`)).sharedWith).toBe('organisation');
    expect((await ask('GET', item, undefined, third.key)).status).toBe(200);
    await expectChange(plane, () => ask('DELETE', `${item}/share`), {
      ...{ resource, action: 'unshare' },
      events: [...ids(plane.workspaceId, 'upsert'), ...ids(plane.organisationId, 'delete')],
    });
    expect(await document(kind, `${plane.organisationId}/${slug}`)).toBeNull();
  });

  it('gives recipients no right to change, publish, label, share or delete', async () => {
    const { slug } = await make('/prompts');
    await ask('POST', `/prompts/${slug}/share`, { shared_with: 'organisation' });
    for (const [method, path, body] of [
      ['PUT', '', { name: 'Mine' }],
      ['DELETE', '', undefined],
      ['PUT', '/makeDefault', { version: 1 }],
      ['PUT', '/labels/staging', { version: 1 }],
      ['POST', '/share', { shared_with: 'organisation' }],
      ['POST', '/unshare', {}],
    ] as const) {
      await expectRefusal(plane, () => ask(method, `/prompts/${slug}${path}`, body, other.key), 404, 'AB08', true);
    }
  });

  it('lists what others share with type=shared, and shows the sharing with show_prompt_share', async () => {
    const { slug } = await make('/prompts', { name: 'Listed' });
    await ask('POST', `/prompts/${slug}/share`, { shared_with: [other.id] });
    const list = async (query: string, key: string) =>
      ((await ask('GET', `/prompts?search=listed&${query}`, undefined, key)).body.data as { slug: string }[]).map((row) => row);
    const share = { workspace_id: plane.workspaceId, shared_with: [other.id] };
    expect(await list('', other.key)).toEqual([]);
    expect(await list('type=shared', other.key)).toMatchObject([{ slug, prompt_share: share }]);
    expect(await list('type=shared', plane.workspaceKey)).toEqual([]);
    expect(await list('show_prompt_share=true', plane.workspaceKey)).toMatchObject([{ slug, prompt_share: share }]);
    expect((await list('', plane.workspaceKey))[0]).not.toHaveProperty('prompt_share');
  });

  it('fork: names everything that the target lacks, then copies the version', async () => {
    const partial = await make('/prompts/partials');
    const { slug } = await make('/prompts', { string: `{{>${partial.slug}}} {{name}}`, tools: [{ type: 'function' }] });
    const fork = () => ask('POST', `/prompts/${slug}/fork`, { name: 'Copy' }, other.key);
    await expectRefusal(plane, fork, 404, 'AB08', true);
    await ask('POST', `/prompts/${slug}/share`, { shared_with: [other.id] });
    const lacking = await expectRefusal(plane, fork, 400, 'AB01', true);
    expect(lacking.body.data.errors).toEqual([
      'virtual_key: the target workspace has no provider for mock',
      `string: the partial ${partial.slug} is not shared with the target workspace`,
    ]);
    await ask('POST', `/prompts/partials/${partial.slug}/share`, { shared_with: 'organisation' });
    const provider = { name: 'Mock', slug: 'their-mock', integration_id: 'mock', workspace_id: other.id };
    await plane.ask('PUT', '/integrations/mock/workspaces', { body: { workspaces: [{ id: other.id, enabled: true }] } });
    expect((await plane.ask('POST', '/providers', { body: provider })).status).toBe(200);
    await plane.ask('DELETE', `/providers/mock?workspace_id=${other.id}`);
    const copy = await fork();
    expect(copy.status, JSON.stringify(copy.body)).toBe(200);
    expect((await ask('GET', `/prompts/${copy.body.slug}`, undefined, other.key)).body).toMatchObject({
      ...{ name: 'Copy', virtual_key: 'their-mock', prompt_version: 1, tools: [{ type: 'function' }] },
      prompt_version_description: `Copied from ${slug}@1`,
    });
    expect((await ask('GET', `/prompts/${copy.body.slug}`)).status).toBe(404);
    const copied = await ask('POST', `/prompts/partials/${partial.slug}/fork`, {}, other.key);
    expect((await ask('GET', `/prompts/partials/${copied.body.slug}`, undefined, other.key)).body.string).toBe('Hello');
  });

  it('keeps a workspace that still shares from being deleted, and ends with a workspace that receives', async () => {
    const sharing = await newWorkspace('Sharing');
    const receiving = await newWorkspace('Receiving');
    const { slug, id } = (await ask('POST', '/prompts', { name: 'S', string: 'x', parameters: {} }, sharing.key)).body;
    await ask('POST', `/prompts/${slug}/share`, { shared_with: [receiving.id] }, sharing.key);
    const remove = (one: { id: string }, name: string) =>
      plane.ask('DELETE', `/admin/workspaces/${one.id}`, { body: { name, force_delete: true } });
    const refused = await expectRefusal(plane, () => remove(sharing, 'Sharing'), 409, 'AB07', true);
    expect(refused.body.data.message).toBe('This workspace still shares 1 prompt. Stop sharing first');
    expect((await remove(receiving, 'Receiving')).status).toBe(200);
    expect((await ask('GET', `/prompts/${id}/share`, undefined, sharing.key)).body.shared_with).toBeNull();
    expect((await remove(sharing, 'Sharing')).status).toBe(200);
    expect(await document('prompt', `${sharing.id}/${slug}`)).toBeNull();
  });

  it('refuses workspaces that are unknown, of others, or its own', async () => {
    const { slug } = await make('/prompts');
    const foreign = await plane.newTenant();
    const deleted = await newWorkspace('Deleted');
    await plane.ask('DELETE', `/admin/workspaces/${deleted.id}`, { body: { name: 'Deleted', force_delete: true } });
    for (const [name, status, message] of [
      ['nowhere', 404, 'shared_with[0]: Workspace not found'],
      [foreign.workspaceId, 404, 'shared_with[0]: Workspace not found'],
      [deleted.id, 404, 'shared_with[0]: Workspace not found'],
      [plane.workspaceId, 400, "shared_with[0]: this is the item's own workspace"],
    ] as const) {
      const reply = await ask('POST', `/prompts/${slug}/share`, { shared_with: [name] });
      expect([reply.status, reply.body.data.message]).toEqual([status, message]);
    }
  });
});
