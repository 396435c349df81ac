import { afterAll, beforeAll, describe, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { hidesForeignItems } from '../../support/refusal-suites.ts';
import { ruleDatabases } from '../../support/test-database.ts';

hidesForeignItems(
  'API keys',
  async (plane) => [
    (await plane.ask('POST', '/api-keys/workspace/service', { body: { name: 'k', scopes: ['configs.list'] } })).body.id,
    (await plane.ask('POST', '/api-keys/organisation/service', { body: { name: 'k', scopes: ['configs.list'] } })).body.id,
  ],
  (id) => [
    { method: 'GET', path: `/api-keys/${id}` },
    { method: 'PUT', path: `/api-keys/${id}`, body: { name: 'Stolen' } },
    { method: 'DELETE', path: `/api-keys/${id}` },
    { method: 'POST', path: `/api-keys/${id}/rotate`, body: {} },
  ],
);

describe.each(ruleDatabases)('references of a key, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  it('must exist: its workspace, and its default config in that workspace', async () => {
    const other = await plane.newTenant();
    const body = { name: 'k', scopes: ['configs.list'] };
    const inWorkspace = (workspace_id: string) => () =>
      plane.ask('POST', '/api-keys/workspace/service', { body: { ...body, workspace_id } });
    await expectRefusal(plane, inWorkspace(other.workspaceId), 404, 'AB08', true);
    await expectRefusal(plane, inWorkspace('no-such'), 404, 'AB08', true);
    const config = { name: 'C', slug: 'foreign', config: { provider: '@mock' } };
    await plane.ask('POST', '/configs', { key: other.adminKey, body: config });
    const withConfig = () =>
      plane.ask('POST', '/api-keys/workspace/service', { body: { ...body, defaults: { config_id: 'foreign' } } });
    await expectRefusal(plane, withConfig, 404, 'AB02', true);
  });
});
