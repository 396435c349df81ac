import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('a provider that configs use, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const add = async (slug: string): Promise<void> => {
    const reply = await plane.ask('POST', '/providers', { body: { name: slug, slug, integration_id: 'mock' } });
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  };
  const save = async (slug: string, config: JsonObject): Promise<void> => {
    const reply = await plane.ask('POST', '/configs', { body: { name: slug, slug, config } });
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  };
  const refused = async (path: string, key?: string): Promise<string> => {
    const ask = () => plane.ask('DELETE', path, key === undefined ? {} : { key });
    return (await expectRefusal(plane, ask, 409, 'AB07', true)).body.data.message;
  };

  it('cannot be deleted on either route, and the error lists the configs', async () => {
    await add('prod');
    await add('prod-2');
    const nested = { strategy: { mode: 'fallback' }, targets: [{ provider: '@prod' }] };
    await save('in-a-target', { strategy: { mode: 'loadbalance' }, targets: [nested, { provider: '@prod-2' }] });
    await save('in-a-model', { override_params: { model: '@prod/gpt-5' } });
    await save('as-virtual-key', { provider: 'openai', virtual_key: 'prod' });
    await save('of-another', { provider: '@prod-2', override_params: { user: '@prod' } });
    for (const route of ['providers', 'virtual-keys']) {
      expect(await refused(`/${route}/prod`)).toBe(
        'The provider @prod is used by 3 configs: as-virtual-key, in-a-model, in-a-target. Change them first, or delete it with force=true: requests then skip their targets',
      );
    }
    const blind = await plane.newKey(['providers.delete']);
    expect(await refused(`/providers/prod?workspace_id=${plane.workspaceId}`, blind)).toMatch(
      /^The provider @prod is used by 3 configs\. /,
    );
  });

  it('can be deleted after its configs; earlier versions and archived ones do not count', async () => {
    await add('old');
    await save('changed', { provider: '@old' });
    await save('archived', { provider: '@old' });
    expect(await refused('/providers/old')).toContain('archived, changed');
    expect((await plane.ask('PUT', '/configs/changed', { body: { config: { provider: '@mock' } } })).status).toBe(200);
    expect((await plane.ask('DELETE', '/configs/archived')).status).toBe(200);
    expect((await plane.ask('DELETE', '/providers/old')).status).toBe(200);
  });

  it('is deleted with force', async () => {
    for (const route of ['providers', 'virtual-keys']) {
      await add(`forced-${route}`);
      await save(`names-forced-${route}`, { provider: `@forced-${route}` });
      expect((await plane.ask('DELETE', `/${route}/forced-${route}?force=false`)).status).toBe(409);
      expect((await plane.ask('DELETE', `/${route}/forced-${route}?force=true`)).status).toBe(200);
    }
  });

  it('does not block deletion of its workspace or its integration', async () => {
    const workspace = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Short-lived' } })).body;
    const workspace_id = workspace.id;
    const integration = { name: 'i', slug: 'to-archive', ai_provider_id: 'openai', key: 'sk-1', workspace_id };
    expect((await plane.ask('POST', '/integrations', { body: integration })).status).toBe(200);
    const provider = { name: 'p', slug: 'to-archive-p', integration_id: 'to-archive', workspace_id };
    expect((await plane.ask('POST', '/providers', { body: provider })).status).toBe(200);
    const config = { name: 'c', slug: 'c', config: { provider: '@to-archive-p' }, workspace_id };
    expect((await plane.ask('POST', '/configs', { body: config })).status).toBe(200);
    expect((await plane.ask('DELETE', '/integrations/to-archive')).status).toBe(200);
    const body = { name: 'Short-lived', force_delete: true };
    expect((await plane.ask('DELETE', `/admin/workspaces/${workspace_id}`, { body })).status).toBe(200);
  });
});
