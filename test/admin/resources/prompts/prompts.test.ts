import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../../admin/db/new-id.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';
import { greeting } from './probes.ts';

describe.each(ruleDatabases)('prompts, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const create = async (more: object = {}) => {
    const { status, body } = await plane.ask('POST', '/prompts', { body: { ...greeting, ...more } });
    expect(status, JSON.stringify(body)).toBe(200);
    return body as { id: string; slug: string; version_id: string };
  };
  const read = async (name: string) => (await plane.ask('GET', `/prompts/${name}`)).body;
  const put = (name: string, body: object, path = '') => plane.ask('PUT', `/prompts/${name}${path}`, { body });
  const document = async (name: string) =>
    (await plane.internal('GET', `/documents/prompt/${encodeURIComponent(name)}`)).body.document;

  it('create: stores the first version as the published one, readable by id, slug and reference', async () => {
    const reply = await plane.ask('POST', '/prompts', { body: { ...greeting, version_description: 'first' } });
    const { id, slug, version_id } = reply.body;
    const receipt = { id, slug, version_id, object: 'prompt' };
    expect(reply.body).toEqual({ success: true, ...receipt, data: receipt });
    expect(slug).toMatch(/^pp-greeting-[0-9a-f]{6}$/);
    const collection = (await plane.ask('GET', '/collections')).body.data[0];
    const expected = {
      ...{ id, slug, name: 'Greeting', collection_id: collection.id, string: greeting.string },
      ...{ parameters: { temperature: 0.2, model: 'echo' }, model: 'echo', virtual_key: 'mock' },
      ...{ functions: [], tools: [], tool_choice: null, template_metadata: null, is_raw_template: 0 },
      ...{ prompt_version: 1, prompt_version_id: version_id, prompt_version_status: 'active', status: 'active' },
      ...{ prompt_version_description: 'first', prompt_version_label_id: null },
    };
    const names = [id, slug, `${slug}@1`, `${slug}@latest`, `${slug}@default`, `${slug}?version=1`];
    for (const path of [...names, `${slug}/versions/${version_id}`, `${id}/versions/1`]) {
      const { success, data, created_at: _, last_updated_at: __, ...fields } = await read(path);
      expect(fields, path).toEqual(expected);
      expect([success, data.id]).toEqual([true, id]);
    }
    expect((await plane.ask('GET', `/prompts/${slug}@2`)).status).toBe(404);
    expect((await plane.ask('GET', `/prompts/${slug}@nowhere`)).status).toBe(404);
  });

  it('list: return_last_used adds the time of the last request with each prompt', async () => {
    const [used, idle] = [await create(), await create()];
    const { organisationId, workspaceId } = plane;
    const record = { organisationId, workspaceId, promptSlug: used.slug };
    const times = ['2026-02-01T00:00:00.000Z', '2026-02-02T00:00:00.000Z'];
    await plane.internal(
      'POST',
      '/records',
      times.map((createdAt) => sampleRecord({ ...record, createdAt })),
    );
    const { data } = (await plane.ask('GET', '/prompts?return_last_used=true')).body;
    const shown = Object.fromEntries(data.map((one: { slug: string; last_used_at: string }) => [one.slug, one.last_used_at]));
    expect(shown).toMatchObject({ [used.slug]: times[1], [idle.slug]: null });
    expect((await plane.ask('GET', '/prompts')).body.data[0]).not.toHaveProperty('last_used_at');
  });

  it('create: sends a document with the eager versions to gateways, by slug and by id', async () => {
    const events = (await plane.events()).length;
    const { id, slug, version_id } = await create({ tools: [{ type: 'function' }], is_raw_template: 1 });
    const added = (await plane.events()).slice(events).map((event) => `${event.kind} ${event.documentId} ${event.op}`);
    expect(added).toEqual([`prompt ${plane.workspaceId}/${slug} upsert`, `prompt ${plane.workspaceId}/${id} upsert`]);
    const expected = {
      ...{ id, slug, organisationId: plane.organisationId, workspaceId: plane.workspaceId, sharedWith: null },
      versions: {
        1: {
          ...{ id: version_id, template: greeting.string, isRaw: true, parameters: { temperature: 0.2 }, model: 'echo' },
          ...{ virtualKey: 'mock', functions: null, tools: [{ type: 'function' }], toolChoice: null, metadata: null },
        },
      },
      ...{ default: 1, latest: 1, labels: {} },
    };
    for (const name of [slug, id, `${id}/1`]) expect(await document(`${plane.workspaceId}/${name}`)).toEqual(expected);
    for (const name of [`${plane.organisationId}/${slug}`, `${plane.workspaceId}/${id}/2`, slug, `${plane.workspaceId}/${id}/x`])
      expect(await document(name), name).toBeNull();
  });

  it('update: changed content makes a version that is not published; without patch all content is required', async () => {
    const { id, slug, version_id } = await create({ tools: [{ a: 1 }] });
    const incomplete = await expectRefusal(plane, () => put(slug, { string: 'x' }), 400, 'AB01', true);
    expect(incomplete.body.data.message).toBe('parameters: required for a new version. Send patch=true to keep its value');
    const second = await expectChange(
      plane,
      () => put(slug, { string: 'Hi {{name}}', parameters: {}, version_description: 'why' }),
      {
        ...{ resource: 'prompts', action: 'update' },
        events: [`prompt ${plane.workspaceId}/${slug} upsert`, `prompt ${plane.workspaceId}/${id} upsert`],
      },
    );
    expect(second.body.prompt_version_id).not.toBe(version_id);
    expect(await read(slug)).toMatchObject({ prompt_version: 1, string: greeting.string });
    expect(await read(`${slug}@latest`)).toMatchObject({
      ...{
        prompt_version: 2,
        string: 'Hi {{name}}',
        model: null,
        tools: [],
        virtual_key: 'mock',
        prompt_version_status: 'archived',
      },
      prompt_version_description: 'why',
    });
    const third = await put(slug, { patch: true, parameters: { top_p: 1 } });
    expect(await read(`${slug}@latest`)).toMatchObject({ prompt_version: 3, string: 'Hi {{name}}', parameters: { top_p: 1 } });
    const versions = (await plane.ask('GET', `/prompts/${slug}/versions`)).body;
    expect(versions).toMatchObject({ object: 'list', total: 3 });
    expect(versions.data.map((one: { prompt_version: number }) => one.prompt_version)).toEqual([3, 2, 1]);
    expect(versions.data[0]).toMatchObject({ id: third.body.prompt_version_id, prompt_id: id, object: 'prompt' });
    expect(Object.keys((await document(`${plane.workspaceId}/${slug}`)).versions)).toEqual(['1', '3']);
    expect(Object.keys((await document(`${plane.workspaceId}/${id}/2`)).versions)).toEqual(['2']);
  });

  it('update: name, collection, provider and description alone make no version', async () => {
    const { id, slug, version_id } = await create();
    await put(slug, { patch: true, string: 'Second' });
    const collection = (await plane.ask('POST', '/collections', { body: { name: 'Other' } })).body;
    const other = { name: 'Other', slug: `other-${slug.slice(-6)}`, integration_id: 'mock' };
    await plane.ask('POST', '/providers', { body: other });
    const sent = { name: 'New', collection_id: collection.slug, virtual_key: `@${other.slug}`, version_description: 'because' };
    const changed = await expectChange(plane, () => put(slug, { ...sent, parameters: null }), {
      ...{ resource: 'prompts', action: 'update' },
      events: [`${id}/1`, slug, id].map((name) => `prompt ${plane.workspaceId}/${name} upsert`),
    });
    expect(changed.body.prompt_version_id).not.toBe(version_id);
    expect(await read(slug)).toMatchObject({
      ...{ name: 'New', collection_id: collection.id, virtual_key: other.slug, prompt_version_description: 'because' },
      prompt_version: 1,
    });
    expect(await read(`${slug}@latest`)).toMatchObject({ prompt_version: 2, virtual_key: 'mock' });
    expect((await document(`${plane.workspaceId}/${slug}`)).versions[1].virtualKey).toBe(other.slug);
    const same = await put(slug, { patch: true, string: 'Second' });
    expect(same.body.prompt_version_id).toBe(changed.body.prompt_version_id);
  });

  it('publish: makes a version the default, and back', async () => {
    const { id, slug } = await create();
    await put(slug, { patch: true, string: 'Second' });
    await expectChange(plane, () => put(slug, { version: 2 }, '/makeDefault'), {
      ...{ resource: 'prompts', action: 'publish' },
      events: [slug, id].map((name) => `prompt ${plane.workspaceId}/${name} upsert`),
    });
    expect(await read(slug)).toMatchObject({ prompt_version: 2, string: 'Second', prompt_version_status: 'active' });
    expect(await read(`${slug}@1`)).toMatchObject({ prompt_version_status: 'archived' });
    await put(slug, { version: 1 }, '/makeDefault');
    expect((await document(`${plane.workspaceId}/${slug}`)).default).toBe(1);
    await expectRefusal(plane, () => put(slug, { version: 9 }, '/makeDefault'), 404, 'AB08', true);
    const key = await plane.newKey(['prompts.update']);
    const request = () => plane.ask('PUT', `/prompts/${slug}/makeDefault`, { key, body: { version: 1 } });
    await expectRefusal(plane, request, 403, 'AB03', true);
  });

  it('diff: compares two versions by any reference, the published with the newest by default', async () => {
    const { slug } = await create();
    await put(slug, { patch: true, string: greeting.string.replace('Hello', 'Hi'), version_description: 'shorter' });
    for (const query of ['', '?from=1&to=2', '?from=default&to=latest']) {
      const { body } = await plane.ask('GET', `/prompts/${slug}/diff${query}`);
      expect(body).toMatchObject({
        object: 'prompt-diff',
        from: { version: 1 },
        to: { version: 2, description: 'shorter' },
        fields: [],
      });
      expect(body.messages).toMatchObject([{ change: 'changed', role: 'user', from: 0, to: 0 }]);
    }
    expect((await plane.ask('GET', `/prompts/${slug}/diff?to=9`)).status).toBe(404);
  });

  it('delete: archives the prompt, which is gone from reads, lists and gateways', async () => {
    for (const archive of [
      (slug: string) => plane.ask('DELETE', `/prompts/${slug}`),
      (slug: string) => put(slug, { status: 'archived' }),
    ]) {
      const { id, slug } = await create();
      await archive(slug);
      expect((await plane.events()).at(-1)).toMatchObject({ documentId: `${plane.workspaceId}/${id}`, op: 'delete' });
      expect((await plane.ask('GET', `/prompts/${slug}`)).status).toBe(404);
      expect(JSON.stringify((await plane.ask('GET', '/prompts')).body)).not.toContain(slug);
      for (const name of [slug, id, `${id}/1`]) expect(await document(`${plane.workspaceId}/${name}`)).toBeNull();
    }
  });

  it('list: in pages, newest first, by collection, name and id', async () => {
    const collection = (await plane.ask('POST', '/collections', { body: { name: 'Listed' } })).body;
    const first = await create({ name: 'Listed 100%', collection_id: collection.id });
    const second = await create({ name: 'Listed 1000', collection_id: collection.id });
    const slugs = async (query: string) =>
      (await plane.ask('GET', `/prompts?${query}`)).body.data.map((row: { slug: string }) => row.slug) as string[];
    expect(await slugs(`collection_id=${collection.slug}`)).toEqual([second.slug, first.slug]);
    expect(await slugs(`collection_id=${collection.id}&page_size=1&current_page=1`)).toEqual([first.slug]);
    expect(await slugs('search=listed%20100%25')).toEqual([first.slug]);
    expect(await slugs(`id=${second.id}`)).toEqual([second.slug]);
    const row = (await plane.ask('GET', `/prompts?id=${second.slug}`)).body;
    expect(row).toMatchObject({
      success: true,
      total: 1,
      data: [{ id: second.id, model: 'echo', status: 'active', object: 'prompt' }],
    });
  });

  it('accepts ids of the reference that clients send empty, without a new version', async () => {
    const older = { ai_model_id: null, finetune_id: '', provider_api_key_id: null };
    const { slug } = await create(older);
    expect((await put(slug, older)).status).toBe(200);
    expect((await plane.ask('GET', `/prompts/${slug}/versions`)).body.total).toBe(1);
    expect(await read(slug)).not.toHaveProperty('ai_model_id');
  });

  it('refuses fields that are wrong, by name', async () => {
    const cases: [object, number, string][] = [
      [{ name: '' }, 400, 'name: must not be empty'],
      [{ string: [{}] }, 400, 'string: a template is expected: JSON of the messages as text, or a text'],
      [{ parameters: undefined }, 400, 'parameters: required'],
      [{ is_raw_template: 2 }, 400, 'is_raw_template: 0 or 1 is expected'],
      [{ virtual_key: 'nobody' }, 404, 'virtual_key: Provider not found'],
      [{ collection_id: 'nowhere' }, 404, 'collection_id: Collection not found'],
      [{ finetune_id: newId() }, 400, 'finetune_id: not supported by this version. Remove it'],
    ];
    for (const [more, status, message] of cases) {
      const reply = await plane.ask('POST', '/prompts', { body: { ...greeting, ...more } });
      expect([reply.status, reply.body.data.message]).toEqual([status, message]);
    }
  });
});
