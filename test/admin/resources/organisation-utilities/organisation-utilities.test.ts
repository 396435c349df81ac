import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { newPerson } from '../../support/people.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { refusesUnknownKeys } from '../../support/refusal-suites.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const paths = ['/utils/test-auth', '/organisation/api-key', '/organisation/config', '/organisation/ai-providers/slug'] as const;
refusesUnknownKeys(
  'organisation utilities',
  paths.map((path) => ({ method: 'GET', path })),
);

describe.each(ruleDatabases)('organisation utilities, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const ask = (path: string, key?: string) => plane.ask('GET', path, key === undefined ? {} : { key });

  it('return the caller, with any scope', async () => {
    const { organisationId: organisation_id, workspaceId: workspace_id } = plane;
    const weak = await plane.newKey(['configs.list']);
    for (const [key, data] of [
      [plane.adminKey, { type: 'organisation-service', organisation_id, workspace_id: null, user_id: null }],
      [weak, { type: 'workspace-service', organisation_id, workspace_id, user_id: null }],
    ] as const) {
      expect((await ask('/utils/test-auth', key)).body).toEqual({ success: true, data });
    }
    const person = await newPerson(plane);
    expect((await ask('/utils/test-auth', person.token)).body.data).toEqual({
      type: 'session',
      organisation_id,
      workspace_id: null,
      user_id: person.id,
    });
  });

  it('return the calling key without its secret', async () => {
    const key = await plane.newKey(['configs.list']);
    const { status, body } = await ask('/organisation/api-key', key);
    expect([status, body.data]).toEqual([200, (await ask(`/api-keys/${body.data.id}`)).body]);
    expect(JSON.stringify(body)).not.toContain(key.slice(-20));
    const { token } = await newPerson(plane, 'owner');
    await expectRefusal(plane, () => ask('/organisation/api-key', token), 403, 'AB03', false);
  });

  it('return the settings of the organisation to its keys', async () => {
    const { id, name, created_at, last_updated_at, object, ...settings } = (await ask('/organisations/self')).body.data;
    expect((await ask('/organisation/config')).body).toEqual({ success: true, data: settings });
    await expectRefusal(plane, () => ask('/organisation/config', plane.workspaceKey), 403, 'AB03', false);
  });

  it('return slugs of providers, of a key’s workspace or of all', async () => {
    const second = (await plane.ask('POST', '/workspaces', { body: { name: 'Second' } })).body.id;
    for (const [workspace_id, slug] of [
      [second, 'b-there'],
      [plane.workspaceId, 'a-here'],
    ]) {
      const body = { workspace_id, name: slug, slug, integration_id: 'mock' };
      expect((await plane.ask('POST', '/providers', { body })).status).toBe(200);
    }
    const slugs = async (query: string, key?: string) => {
      const { total, data } = (await ask(`/organisation/ai-providers/slug${query}`, key)).body;
      return [total, data.map((one: { slug: string }) => one.slug)];
    };
    const all = await slugs('');
    expect(all[1]).toEqual([...all[1]].sort());
    expect(all[1]).toEqual(expect.arrayContaining(['a-here', 'b-there']));
    expect((await slugs('', plane.workspaceKey))[1]).not.toContain('b-there');
    expect((await slugs(`?workspace_id=${second}`))[1]).toContain('b-there');
    expect(await slugs('?page_size=1&current_page=1')).toEqual([all[0], [all[1][1]]]);
    const { data } = (await ask('/organisation/ai-providers/slug')).body;
    expect(data.find((one: { slug: string }) => one.slug === 'b-there')).toEqual({
      slug: 'b-there',
      name: 'b-there',
      ai_provider_id: 'mock',
      workspace_id: second,
    });
    const key = await plane.newKey(['configs.list']);
    await expectRefusal(plane, () => ask('/organisation/ai-providers/slug', key), 403, 'AB03', false);
  });
});
