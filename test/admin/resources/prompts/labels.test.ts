import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';
import { greeting } from './probes.ts';

describe.each(ruleDatabases)('labels of prompts, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const ask = async (method: string, path: string, body?: unknown) => (await plane.ask(method, path, { body })).body;
  const threeVersions = async () => {
    const { id, slug } = await ask('POST', '/prompts', greeting);
    for (const string of ['Second', 'Third']) await ask('PUT', `/prompts/${slug}`, { patch: true, string });
    return { id, slug };
  };
  const document = async (slug: string) =>
    (await plane.internal('GET', `/documents/prompt/${plane.workspaceId}%2F${slug}`)).body.document;
  const labelId = async (name: string) => (await ask('GET', `/labels/${name}`)).id as string;

  it('exist as production, staging and development, which cannot be changed or deleted', async () => {
    const { data, total } = await ask('GET', '/labels');
    const own = data.filter((row: { is_universal: boolean }) => row.is_universal);
    expect([own.map((row: { name: string }) => row.name).sort(), total]).toEqual([['development', 'production', 'staging'], 3]);
    for (const { id } of own) {
      await expectRefusal(plane, () => plane.ask('DELETE', `/labels/${id}`), 409, 'AB07', true);
      await expectRefusal(plane, () => plane.ask('PUT', `/labels/${id}`, { body: { name: 'other' } }), 409, 'AB07', true);
    }
  });

  it('are created, read by id and name, renamed and deleted; names are checked', async () => {
    const body = { name: 'beta', description: 'Testers', color_code: '#123456', workspace_id: plane.workspaceId };
    const { id } = (
      await expectChange(plane, () => plane.ask('POST', '/labels', { body }), {
        ...{ resource: 'prompt_labels', action: 'create', events: [] },
      })
    ).body;
    for (const name of [id, 'beta']) {
      expect(await ask('GET', `/labels/${name}`)).toMatchObject({ id, ...body, is_universal: false, status: 'active' });
    }
    for (const name of ['latest', 'default', '12', 'a@b', 'a b', 'a/b', ''])
      expect((await plane.ask('POST', '/labels', { body: { name } })).status, name).toBe(400);
    for (const taken of [{ name: 'beta' }, { name: 'production', workspace_id: plane.workspaceId }])
      expect((await plane.ask('POST', '/labels', { body: taken })).status).toBe(409);
    await ask('PUT', `/labels/${id}`, { name: 'gamma' });
    expect((await ask('GET', '/labels?search=AMM')).data).toMatchObject([{ id, name: 'gamma', description: 'Testers' }]);
    await ask('DELETE', `/labels/${id}`);
    expect((await plane.ask('GET', `/labels/${id}`)).status).toBe(404);
  });

  it('name one version each: by the route of versions, one version may have several', async () => {
    const { id, slug } = await threeVersions();
    const [staging, production] = [await labelId('staging'), await labelId('production')];
    const path = `/prompts/${slug}/versions`;
    await expectChange(plane, () => plane.ask('PUT', `${path}/2`, { body: { label_id: staging } }), {
      ...{ resource: 'prompts', action: 'label' },
      events: [slug, id].map((name) => `prompt ${plane.workspaceId}/${name} upsert`),
    });
    await ask('PUT', `${path}/2`, { label_id: production });
    expect(await ask('GET', `/prompts/${slug}@staging`)).toMatchObject({
      prompt_version: 2,
      prompt_version_label_id: production,
    });
    expect((await document(slug)).labels).toEqual({
      production: [{ version: 2, weight: 1 }],
      staging: [{ version: 2, weight: 1 }],
    });
    expect(Object.keys((await document(slug)).versions)).toEqual(['1', '2', '3']);
    await ask('PUT', `${path}/1`, { label_id: staging });
    expect(await ask('GET', `/prompts/${slug}@staging`)).toMatchObject({ prompt_version: 1, prompt_version_label_id: staging });
    await ask('PUT', `${path}/2`, { label_id: null });
    expect((await document(slug)).labels).toEqual({ staging: [{ version: 1, weight: 1 }] });
    const other = '00000000-0000-4000-8000-000000000000';
    await expectRefusal(plane, () => plane.ask('PUT', `${path}/2`, { body: { label_id: other } }), 404, 'AB02', true);
  });

  it('split requests between versions by weight, and a move is undone in one step', async () => {
    const { slug } = await threeVersions();
    const path = `/prompts/${slug}/labels/production`;
    await ask('PUT', path, { version: 1 });
    const versions = [
      { version: 3, weight: 1 },
      { version: 1, weight: 9 },
    ];
    const split = await ask('PUT', path, { versions });
    expect(split).toMatchObject({ name: 'production', versions, previous_versions: [{ version: 1, weight: 1 }] });
    expect((await document(slug)).labels.production).toEqual(versions.toReversed());
    const reverted = await plane.ask('POST', `${path}/revert`, { body: {} });
    expect(reverted.body).toMatchObject({ versions: [{ version: 1, weight: 1 }], previous_versions: versions });
    expect(await plane.lastAudit()).toMatchObject({ action: 'revert-label', resourceType: 'prompts' });
    await ask('POST', `${path}/revert`, {});
    expect((await ask('GET', `/prompts/${slug}/labels`)).data).toMatchObject([{ name: 'production', versions }]);
    await ask('DELETE', path);
    expect((await document(slug)).labels).toEqual({});
    await ask('POST', `${path}/revert`, {});
    expect((await document(slug)).labels.production).toHaveLength(2);
    for (const [body, status] of [
      [{}, 400],
      [{ version: 1, versions }, 400],
      [{ version: 9 }, 404],
      [{ versions: [versions[0], versions[0]] }, 400],
      [{ versions: [{ version: 1, weight: 0 }] }, 400],
    ] as const)
      expect((await plane.ask('PUT', path, { body })).status, JSON.stringify(body)).toBe(status);
  });

  it('change the documents of their prompts when they are renamed or deleted', async () => {
    const { id, slug } = await threeVersions();
    const label = await ask('POST', '/labels', { name: 'canary' });
    await ask('PUT', `/prompts/${slug}/labels/canary`, { version: 2 });
    const events = [slug, id].map((name) => `prompt ${plane.workspaceId}/${name} upsert`);
    const trace = { resource: 'prompt_labels', events };
    await expectChange(plane, () => plane.ask('PUT', `/labels/${label.id}`, { body: { name: 'bird' } }), {
      ...trace,
      action: 'update',
    });
    expect(Object.keys((await document(slug)).labels)).toEqual(['bird']);
    await expectChange(plane, () => plane.ask('DELETE', `/labels/${label.id}`), { ...trace, action: 'delete' });
    expect((await document(slug)).labels).toEqual({});
    expect((await plane.ask('GET', `/prompts/${slug}@bird`)).status).toBe(404);
  });

  it('labels of the organisation cannot be changed by keys of a workspace', async () => {
    const label = await ask('POST', '/labels', { name: 'everywhere' });
    const request = () => plane.ask('PUT', `/labels/${label.id}`, { key: plane.workspaceKey, body: { description: 'x' } });
    await expectRefusal(plane, request, 403, 'AB03', true);
    expect((await plane.ask('GET', '/labels/everywhere', { key: plane.workspaceKey })).status).toBe(200);
  });
});
