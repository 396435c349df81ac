import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const base = { name: 'I', key: 'sk-0123456789abcdef', create_default_provider: false };

describe.each(ruleDatabases)('integration fields of some clients only, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const create = (body: Record<string, unknown>) => () => plane.ask('POST', '/integrations', { body: { ...base, ...body } });
  const read = async (slug: string) => (await plane.ask('GET', `/integrations/${slug}`)).body;

  it('include the catalogue id of the provider type', async () => {
    const { data } = (await plane.ask('GET', '/utils/static-resources/ai-providers')).body;
    const { id } = data.find((one: { slug: string }) => one.slug === 'openai');
    const trace = { resource: 'integrations', action: 'create', events: [] };
    const made = await expectChange(plane, create({ slug: 'by-id', integration_id: id, plugin_provider_id: null }), trace);
    expect(made.body).toMatchObject({ id: expect.any(String), slug: 'by-id' });
    expect((await read('by-id')).ai_provider_id).toBe('openai');
    expect((await create({ slug: 'both', integration_id: 'open-ai', ai_provider_id: 'openai' })()).status).toBe(200);
  });

  const refused: [string, Record<string, unknown>, string][] = [
    ['no type', {}, 'ai_provider_id: required'],
    ['two types', { ai_provider_id: 'openai', integration_id: 'anthropic' }, 'integration_id: has another provider type'],
    ['a type nobody knows', { integration_id: 'nobody' }, 'integration_id: no provider type of this name'],
    [
      'credentials of plugins, which are not kept',
      { ai_provider_id: 'openai', plugin_provider_id: 'aporia' },
      'plugin_provider_id: not supported by this version',
    ],
    ['tags beyond 4 KiB', { ai_provider_id: 'openai', tags: { a: 'x'.repeat(5_000) } }, 'tags: at most 4 KiB'],
  ];
  it.each(refused)('reject %s', async (_, body, message) => {
    const reply = await expectRefusal(plane, create(body), 400, 'AB01', true);
    expect(reply.body.data.message).toContain(message);
  });

  it('errors name the members of credentials that were sent', async () => {
    const errorsOf = async (more: object) =>
      (await create({ slug: 'sent', ai_provider_id: 'openai', ...more })()).body.data.errors;
    expect(await errorsOf({ credentials: { openai_project: 1 } })).toEqual([
      expect.stringMatching(/^credentials\.openai_project: /),
    ]);
    expect(await errorsOf({ credentials: { custom_host: 'http://10.0.0.5/v1' } })).toEqual([
      expect.stringMatching(/^credentials\.custom_host: /),
    ]);
    expect(await errorsOf({ configurations: { openai_project: 1 }, credentials: { custom_host: 'https://a.example' } })).toEqual([
      expect.stringMatching(/^configurations\.openai_project: /),
    ]);
  });

  it('can be changed under the newer base path by id: name, credentials, status', async () => {
    const made = await create({ slug: 'newer', ai_provider_id: 'openai' })();
    const put = async (body: unknown) => {
      const reply = await fetch(`${plane.url}/v2/integrations/${made.body.id}`, {
        method: 'PUT',
        headers: { 'x-svc-api-key': plane.adminKey, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return [reply.status, await reply.json()];
    };
    expect(await put({ name: 'Renamed', status: 'active', credentials: { openai_project: 'p' } })).toEqual([200, {}]);
    expect(await read('newer')).toMatchObject({ name: 'Renamed', configurations: { openai_project: 'p' } });
    expect(await put({ status: 'archived' })).toEqual([200, {}]);
    expect((await plane.ask('GET', '/integrations/newer')).status).toBe(404);
  });

  it('include the number of workspaces with access, by their own setting or the global one', async () => {
    await create({ slug: 'shared', ai_provider_id: 'openai' })();
    const second = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Second' } })).body.id;
    const share = (body: unknown) => plane.ask('PUT', '/integrations/shared/workspaces', { body });
    const count = async () => (await read('shared')).workspace_count;
    expect(await count()).toBe(0);
    await share({ workspaces: [{ id: second, enabled: true }] });
    expect(await count()).toBe(1);
    await share({ global_workspace_access: { enabled: true } });
    expect(await count()).toBe(2);
    await share({ workspaces: [{ id: second, enabled: false }] });
    expect(await count()).toBe(1);
  });
});
