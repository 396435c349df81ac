import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { parseApiKey } from '../../../../core/contract/values/credentials/api-key.ts';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('deleting a workspace, on %s', (database) => {
  let plane: Plane;
  let id: string;
  let round = 0;
  beforeEach(async () => {
    plane ??= await startPlane(database);
    id = (await plane.ask('POST', '/workspaces', { body: { name: `Lab ${++round}`, slug: `lab-${round}`, icon: '🧪' } })).body.id;
  });
  afterAll(() => plane?.close());

  const remove = (body: unknown, headers = {}) => plane.ask('DELETE', `/admin/workspaces/${id}`, { body, headers });

  it('requires its name, with or without the icon', async () => {
    await expectRefusal(plane, () => remove({ name: 'Lab' }), 400, 'AB01', true);
    await expectRefusal(plane, () => remove({ force_delete: true }), 400, 'AB01', true);
    await expectChange(plane, () => remove({ name: `🧪 Lab ${round}` }), {
      resource: 'workspaces',
      action: 'delete',
      events: [
        `workspace-policies ${id} delete`,
        `workspace ${id} delete`,
        `workspace-name ${plane.organisationId}/lab-${round} delete`,
      ],
    });
    expect((await plane.internal('GET', `/documents/workspace/${id}`)).body.document).toBeNull();
  });

  it('leaves it listed as archived, unreadable, with a free slug', async () => {
    expect((await remove({ name: `Lab ${round}` })).status).toBe(200);
    for (const name of [id, `lab-${round}`]) {
      await expectRefusal(plane, () => plane.ask('GET', `/workspaces/${name}`), 403, 'AB03', false);
    }
    await expectRefusal(plane, () => remove({ name: `Lab ${round}` }), 403, 'AB03', true);
    const ids = async (query: string) =>
      (await plane.ask('GET', `/workspaces${query}`)).body.data.map((row: { id: string }) => row.id);
    expect(await ids('')).not.toContain(id);
    expect(await ids('?status=archived')).toContain(id);
    expect(await ids('?status=active,archived')).toContain(id);
    const again = await plane.ask('POST', '/workspaces', { body: { name: 'Again', slug: `lab-${round}` } });
    expect(again.status).toBe(200);
    expect((await plane.ask('GET', `/workspaces/lab-${round}`)).body.id).toBe(again.body.id);
  });

  it('is rejected for the default workspace', async () => {
    const request = () =>
      plane.ask('DELETE', '/workspaces/ws-default', { body: { name: 'Default workspace', force_delete: true } });
    await expectRefusal(plane, request, 409, 'AB07', true);
  });

  it('is rejected while it has contents, and deletes them with force_delete', async () => {
    const own = { workspace_id: id };
    const key = (
      await plane.ask('POST', '/api-keys/workspace/service', {
        body: { ...own, name: 'k', scopes: ['completions.write', 'workspaces.read'] },
      })
    ).body.key as string;
    await plane.ask('POST', '/configs', { body: { ...own, name: 'c', slug: 'pc-c', config: { provider: 'openai' } } });
    await plane.ask('PUT', `/workspaces/${id}`, { body: { defaults: { user_api_key_config: 'pc-c' } } });
    const integration = {
      ...own,
      name: 'i',
      slug: `int-${round}`,
      ai_provider_id: 'openai',
      key: 'sk-x',
      create_default_provider: false,
    };
    expect((await plane.ask('POST', '/integrations', { body: integration })).status).toBe(200);
    const provider = { ...own, name: 'p', slug: 'p', integration_id: `int-${round}` };
    expect((await plane.ask('POST', '/providers', { body: provider })).status).toBe(200);

    const reply = await expectRefusal(plane, () => remove({ name: `Lab ${round}` }), 409, 'AB07', true);
    for (const what of ['API keys (1)', 'providers (1)', 'configs (1)', 'integrations (1)'])
      expect(reply.body.data.message).toContain(what);
    expect((await plane.ask('GET', `/workspaces/${id}`, { key })).status).toBe(200);

    const publicId = parseApiKey(key)?.id;
    await expectChange(plane, () => remove({ name: `Lab ${round}`, force_delete: true }), {
      resource: 'workspaces',
      action: 'delete',
      events: [
        `workspace-policies ${id} delete`,
        `api-key ${publicId} delete`,
        `provider ${id}/p delete`,
        `config ${id}/pc-c delete`,
        `workspace ${id} delete`,
        `workspace-name ${plane.organisationId}/lab-${round} delete`,
      ],
    });
    expect((await plane.ask('GET', `/workspaces/${id}`, { key })).status).toBe(401);
    for (const document of [`api-key/${publicId}`, `provider/${id}%2Fp`, `config/${id}%2Fpc-c`]) {
      const read = await plane.internal('GET', `/documents/${document}`);
      expect([document, read.body.document ?? null]).toEqual([document, null]);
    }
  });

  it('is rejected for a version that is not the current one', async () => {
    const stale = (await plane.ask('GET', `/workspaces/${id}`)).headers.get('etag') ?? '';
    expect(
      (await plane.ask('PUT', `/workspaces/${id}`, { body: { description: 'new' }, headers: { 'if-match': stale } })).status,
    ).toBe(200);
    await expectRefusal(plane, () => remove({ name: `Lab ${round}` }, { 'if-match': stale }), 412, 'AB12', true);
    const put = () => plane.ask('PUT', `/workspaces/${id}`, { body: { name: 'x' }, headers: { 'if-match': stale } });
    await expectRefusal(plane, put, 412, 'AB12', true);
  });
});
