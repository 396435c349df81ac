import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('the tool library, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const ask = async (method: string, path: string, body?: unknown) => (await plane.ask(method, path, { body })).body;
  const tool_def = { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } };

  it('tools have versions that are published by number, in lists and replies', async () => {
    const collection = await ask('POST', '/collections', { name: 'Tools' });
    const body = { name: 'Weather', collection_id: collection.id, tool_def, version_description: 'first' };
    const made = await expectChange(plane, () => plane.ask('POST', '/tools', { body }), {
      ...{ resource: 'prompt_tools', action: 'create', events: [] },
    });
    const { id, slug, version_id } = made.body;
    const row = { id, slug, collection_id: collection.id, name: 'Weather', tool_def, status: 'active', object: 'tool' };
    expect(await ask('GET', `/tools/${slug}`)).toMatchObject({ ...row, version: 1, tool_version_id: version_id });
    expect(await ask('GET', `/tools?collection_id=${collection.slug}`)).toMatchObject({ object: 'list', total: 1, data: [row] });
    const same = await ask('PUT', `/tools/${id}`, { name: 'Renamed', tool_def });
    expect(same.tool_version_id).toBe(version_id);
    const changed = await ask('PUT', `/tools/${id}`, { tool_def: { type: 'other' }, version_description: 'second' });
    expect(await ask('GET', `/tools/${id}`)).toMatchObject({ name: 'Renamed', version: 1, tool_def });
    await ask('PUT', `/tools/${id}/makeDefault`, { version: 2 });
    expect(await ask('GET', `/tools/${id}`)).toMatchObject({ version: 2, tool_version_id: changed.tool_version_id });
    expect((await ask('GET', `/tools/${id}/versions`)).data).toMatchObject([
      { tool_id: id, version: 2, tool_def: { type: 'other' }, description: 'second', tool_version_status: 'active' },
      { tool_id: id, version: 1, tool_def, description: 'first', tool_version_status: 'archived' },
    ]);
    await expectRefusal(plane, () => plane.ask('PUT', `/tools/${id}/makeDefault`, { body: { version: 3 } }), 404, 'AB08', true);
  });

  it('tools are archived alone and with their collection', async () => {
    const collection = await ask('POST', '/collections', { name: 'Gone' });
    const first = await ask('POST', '/tools', { name: 'First', tool_def, collection_id: collection.id });
    const second = await ask('POST', '/tools', { name: 'Second', tool_def, collection_id: collection.id });
    await ask('DELETE', `/tools/${first.slug}`);
    expect((await plane.ask('GET', `/tools/${first.slug}`)).status).toBe(404);
    const refused = await plane.ask('DELETE', `/collections/${collection.id}`);
    expect(refused.body.data.message).toContain('still has tools (1)');
    await ask('DELETE', `/collections/${collection.id}?cascade=true`);
    expect((await plane.ask('GET', `/tools/${second.slug}`)).status).toBe(404);
  });
});
