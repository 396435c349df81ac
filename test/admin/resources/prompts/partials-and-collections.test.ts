import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';
import { greeting } from './probes.ts';

describe.each(ruleDatabases)('partials and collections, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const ask = async (method: string, path: string, body?: unknown) => (await plane.ask(method, path, { body })).body;
  const partial = (string: string, name = 'Part') => ask('POST', '/prompts/partials', { name, string });
  const collection = (name: string, parent_collection_id?: string) => ask('POST', '/collections', { name, parent_collection_id });

  it('partials: have versions that are published by number, with documents for gateways', async () => {
    const { id, slug, version_id } = await partial('Hello {{name}}');
    expect(slug).toMatch(/^pp-part-[0-9a-f]{6}$/);
    const path = `/prompts/partials/${slug}`;
    const second = await ask('PUT', path, { string: 'Hi', version_description: 'shorter' });
    expect(second).toMatchObject({ id, slug });
    expect(await ask('GET', path)).toMatchObject({ version: 1, prompt_partial_version_id: version_id, string: 'Hello {{name}}' });
    for (const name of [`${path}@2`, `${path}@latest`, `${path}?version=2`])
      expect(await ask('GET', name)).toMatchObject({ version: 2, string: 'Hi', version_description: 'shorter' });
    await expectChange(plane, () => plane.ask('PUT', `${path}/makeDefault`, { body: { version: 2 } }), {
      ...{ resource: 'prompt_partials', action: 'publish' },
      events: [slug, id].map((name) => `prompt-partial ${plane.workspaceId}/${name} upsert`),
    });
    await ask('PUT', path, { string: 'Third' });
    const read = async (name: string) =>
      (await plane.internal('GET', `/documents/prompt-partial/${encodeURIComponent(`${plane.workspaceId}/${name}`)}`)).body
        .document;
    expect(await read(slug)).toMatchObject({
      id,
      slug,
      default: 2,
      latest: 3,
      versions: { 2: { text: 'Hi' }, 3: { text: 'Third' } },
    });
    expect(Object.keys((await read(`${id}/1`)).versions)).toEqual(['1']);
    const versions = (await ask('GET', `${path}/versions`)).data as { version: number; prompt_version_status: string }[];
    expect(versions.map((one) => [one.version, one.prompt_version_status])).toEqual([
      [3, 'archived'],
      [2, 'active'],
      [1, 'archived'],
    ]);
    expect((await ask('PUT', path, { name: 'Renamed', string: 'Third' })).prompt_partial_version_id).toBe(
      (await ask('GET', `${path}@3`)).prompt_partial_version_id,
    );
    expect((await ask('GET', '/prompts/partials?search=renamed')).data).toMatchObject([
      { id, name: 'Renamed', object: 'partial' },
    ]);
    await ask('DELETE', path);
    expect(await read(slug)).toBeNull();
  });

  it('templates that cannot be compiled are refused with line and column, partials that include each other with their path', async () => {
    const syntax =
      (path: string, body: object, method = 'POST') =>
      async () =>
        plane.ask(method, path, { body });
    const broken = 'one\ntwo {{#a}} three';
    for (const [path, body] of [
      ['/prompts', { ...greeting, string: broken }],
      ['/prompts/partials', { name: 'Broken', string: broken }],
    ] as const) {
      const reply = await expectRefusal(plane, syntax(path, body), 400, 'AB01', true);
      expect(reply.body.data.message, path).toMatch(/^string: line \d+, column \d+: /);
    }
    const { slug } = await ask('POST', '/prompts', greeting);
    const update = await plane.ask('PUT', `/prompts/${slug}`, { body: { patch: true, string: 'x {{' } });
    expect([update.status, update.body.data.message]).toEqual([400, 'string: line 1, column 3: the tag is not closed by }}']);
    const a = (await partial('A')).slug;
    const b = (await partial(`B {{>${a}}}`)).slug;
    const c = (await partial(`C {{>${b}}}`)).slug;
    const closing = { string: `A {{>${c}}}` };
    const cycle = await expectRefusal(
      plane,
      () => plane.ask('PUT', `/prompts/partials/${a}`, { body: closing }),
      400,
      'AB01',
      true,
    );
    expect(cycle.body.data.message).toBe(`string: partials include each other: ${a} → ${c} → ${b} → ${a}`);
    await ask('PUT', `/prompts/partials/${b}`, { string: 'B alone' });
    await ask('PUT', `/prompts/partials/${b}/makeDefault`, { version: 2 });
    expect((await plane.ask('PUT', `/prompts/partials/${a}`, { body: closing })).status).toBe(200);
    const published = (version: number) => plane.ask('PUT', `/prompts/partials/${a}/makeDefault`, { body: { version } });
    expect((await published(2)).status).toBe(200);
    const back = await plane.ask('PUT', `/prompts/partials/${b}/makeDefault`, { body: { version: 1 } });
    expect([back.status, back.body.data.message]).toEqual([
      400,
      `string: partials include each other: ${b} → ${a} → ${c} → ${b}`,
    ]);
  });

  it('collections: form a tree with counts, and move without becoming a part of themselves', async () => {
    const top = await collection('Top');
    const child = await collection('Child', top.slug);
    const leaf = await collection('Leaf', child.id);
    await ask('POST', '/prompts', { ...greeting, collection_id: child.id });
    expect(await ask('GET', `/collections/${top.id}`)).toMatchObject({
      ...{
        id: top.id,
        name: 'Top',
        parent_collection_id: null,
        is_default: 0,
        status: 'active',
        workspace_id: plane.workspaceId,
      },
      child_collections: [{ id: child.id, name: 'Child', collection_details: { child_collections_count: 1, prompts_count: 1 } }],
    });
    const list = (await ask('GET', `/collections?workspace_id=${plane.workspaceId}&search=LEA`)).data;
    expect(list).toMatchObject([{ id: leaf.id, parent_collection_id: child.id, collection_details: { prompts_count: 0 } }]);
    const into = await plane.ask('PUT', `/collections/${top.id}`, { body: { parent_collection_id: leaf.id } });
    expect([into.status, into.body.data.message]).toEqual([
      400,
      'parent_collection_id: a collection cannot be moved into itself',
    ]);
    await ask('PUT', `/collections/${leaf.id}`, { name: 'Moved', parent_collection_id: null });
    expect(await ask('GET', `/collections/${leaf.id}`)).toMatchObject({ name: 'Moved', parent_collection_id: null });
  });

  it('collections: have at most 20 levels, also after a move', async () => {
    const chain = async (name: string, length: number): Promise<string[]> => {
      const ids: string[] = [];
      for (let level = 1; level <= length; level++) ids.push((await collection(`${name} ${level}`, ids.at(-1))).id);
      return ids;
    };
    const [above, moved] = [await chain('Above', 18), await chain('Moved', 3)];
    const move = (parent?: string) => plane.ask('PUT', `/collections/${moved[0]}`, { body: { parent_collection_id: parent } });
    const refused = await move(above[17]);
    expect([refused.status, refused.body.data.message]).toEqual([400, 'parent_collection_id: collections can be nested 20 deep']);
    expect((await move(above[16])).status).toBe(200);
    const child = { name: 'Too deep', parent_collection_id: moved[2] };
    expect((await plane.ask('POST', '/collections', { body: child })).status).toBe(400);
  });

  it('collections: are never inside each other after two moves at once', async () => {
    for (let round = 0; round < 5; round++) {
      const [a, b] = [await collection('A'), await collection('B')];
      const [inA, inB] = [await collection('In A', a.id), await collection('In B', b.id)];
      const move = (moved: string, parent: string) =>
        plane.ask('PUT', `/collections/${moved}`, { body: { parent_collection_id: parent } });
      const done = await Promise.all([move(a.id, inB.id), move(b.id, inA.id)]);
      expect(done.map(({ status }) => status).sort()).toEqual([200, 400]);
    }
  });

  it('collections: are deleted when empty, or with everything in them; the default collection stays', async () => {
    const top = await collection('Full');
    const child = await collection('Inside', top.id);
    const prompt = await ask('POST', '/prompts', { ...greeting, collection_id: child.id });
    const part = await ask('POST', '/prompts/partials', { name: 'P', string: 'x', collection_id: top.id });
    const refused = await expectRefusal(plane, () => plane.ask('DELETE', `/collections/${top.id}`), 409, 'AB07', true);
    expect(refused.body.data.message).toBe(
      'This collection still has collections (1), partials (1). Delete them first, or send cascade=true',
    );
    await expectChange(plane, () => plane.ask('DELETE', `/collections/${top.id}?cascade=true`), {
      ...{ resource: 'prompt_collections', action: 'delete' },
      events: [
        ...[prompt.slug, prompt.id].map((name) => `prompt ${plane.workspaceId}/${name} delete`),
        ...[part.slug, part.id].map((name) => `prompt-partial ${plane.workspaceId}/${name} delete`),
      ],
    });
    for (const path of [`/prompts/${prompt.slug}`, `/collections/${child.id}`, `/prompts/partials/${part.slug}`])
      expect((await plane.ask('GET', path)).status, path).toBe(404);
    const all = (await ask('GET', '/collections')).data as { id: string; is_default: number }[];
    const first = all.find((row) => row.is_default === 1);
    await expectRefusal(plane, () => plane.ask('DELETE', `/collections/${first?.id}`), 404, 'AB08', true);
    expect((await ask('GET', `/prompts/partials/${(await partial('y')).slug}`)).collection_id).toBe(first?.id);
  });

  it('a new workspace has a default collection, and an organisation key decides the workspace by the collection', async () => {
    const workspace = await ask('POST', '/workspaces', { name: 'Second' });
    const [only] = (await ask('GET', `/collections?workspace_id=${workspace.id}`)).data;
    expect(only).toMatchObject({ name: 'Default', is_default: 1, workspace_id: workspace.id });
    const body = { name: 'There', string: 'x', parameters: {}, collection_id: only.id };
    const { slug } = await ask('POST', '/prompts', body);
    expect(await ask('GET', `/prompts/${slug}?workspace_id=${workspace.id}`)).toMatchObject({ collection_id: only.id });
    const none = await plane.ask('POST', '/prompts', { body: { ...body, collection_id: undefined } });
    expect(none.status).toBe(400);
    expect(none.body.data.message).toMatch(/^workspace_id: required .* has the workspaces \S+ \([0-9a-f-]+\), \S+ \(/);
    expect(none.body.data.message).toContain(`${workspace.slug} (${workspace.id})`);
  });

  it('partials: show what includes them, also through other partials', async () => {
    const own = async (method: string, path: string, body?: object) =>
      (await plane.ask(method, path, { key: plane.workspaceKey, body })).body;
    const { slug } = await own('POST', '/prompts/partials', { name: 'Inner', string: 'inner' });
    const { slug: outer } = await own('POST', '/prompts/partials', { name: 'Outer', string: `around {{>${slug}}}` });
    const prompt = async (string: string) => (await own('POST', '/prompts', { name: 'User', string, parameters: {} })).slug;
    const pinned = await prompt(`text {{>${slug}@1}}`);
    const through = await prompt(`[{"role":"user","content":"{{>${outer}}}"}]`);
    await prompt(`only mentions ${slug}`);
    await own('PUT', `/prompts/${pinned}`, { patch: true, string: 'without' });
    const { data, total, total_elsewhere } = await own('GET', `/prompts/partials/${slug}/used-by`);
    expect([total, total_elsewhere]).toEqual([3, 0]);
    expect(data).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          type: 'prompt',
          slug: pinned,
          version: 1,
          is_published: true,
          reference: `${slug}@1`,
          via: [],
        }),
        expect.objectContaining({ type: 'partial', slug: outer, reference: slug, via: [] }),
        expect.objectContaining({ type: 'prompt', slug: through, reference: outer, via: [outer] }),
      ]),
    );
    const { body: other } = await plane.ask('POST', '/admin/workspaces', { body: { name: 'Elsewhere' } });
    await own('POST', `/prompts/partials/${slug}/share`, { shared_with: [other.id] });
    const foreign = { name: 'Foreign', string: `{{>${slug}}}`, parameters: {}, workspace_id: other.id };
    expect((await plane.ask('POST', '/prompts', { body: foreign })).status).toBe(200);
    expect(await own('GET', `/prompts/partials/${slug}/used-by`)).toMatchObject({ total: 3, total_elsewhere: 1 });
    const theirs = `/prompts/partials/${slug}/used-by?workspace_id=${other.id}`;
    expect((await plane.ask('GET', theirs)).status).toBe(404);
    const remove = (name: string, query = '') =>
      plane.ask('DELETE', `/prompts/partials/${name}${query}`, { key: plane.workspaceKey });
    expect(await remove(slug)).toMatchObject({
      status: 409,
      body: {
        data: {
          message: `The partial ${slug} is included by 1 prompt (${pinned}) and by 1 partial (${outer}) and by 1 version in other workspaces. Change them first, or delete it with force=true: requests for them then fail`,
        },
      },
    });
    expect((await remove(slug, '?force=true')).status).toBe(200);
    expect((await remove(outer)).status).toBe(409);
    expect((await plane.ask('DELETE', `/prompts/${through}`, { key: plane.workspaceKey })).status).toBe(200);
    expect((await remove(outer)).status).toBe(200);
  });
});
