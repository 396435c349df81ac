import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { refusesMissingScopes } from '../../support/refusal-suites.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const body = { name: 'k', scopes: ['configs.list'] };
refusesMissingScopes('API keys', [
  { method: 'GET', path: '/api-keys' },
  { method: 'POST', path: '/api-keys/organisation/service', body },
  { method: 'POST', path: '/api-keys/workspace/service', body },
  { method: 'POST', path: '/api-keys/workspace/user', body },
  { method: 'GET', path: '/api-keys/any' },
  { method: 'PUT', path: '/api-keys/any', body: {} },
  { method: 'DELETE', path: '/api-keys/any' },
  { method: 'POST', path: '/api-keys/any/rotate', body: {} },
]);

describe.each(ruleDatabases)('scopes that a key can grant, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  it('are never more than its own', async () => {
    const key = await plane.newKey(['workspace_service_api_keys.create', 'workspace_service_api_keys.update', 'configs.list']);
    const create = (scopes: string[]) => () =>
      plane.ask('POST', '/api-keys/workspace/service', { key, body: { name: 'k', scopes } });
    const made = await create(['configs.list'])();
    expect(made.status).toBe(200);
    await expectRefusal(plane, create(['configs.list', 'configs.delete']), 403, 'AB03', true);
    await expectRefusal(plane, create(['completions.write']), 403, 'AB03', true);
    const raise = () => plane.ask('PUT', `/api-keys/${made.body.id}`, { key, body: { scopes: ['configs.delete'] } });
    await expectRefusal(plane, raise, 403, 'AB03', true);
  });

  it('include calling models for organisation keys, which cannot call models themselves', async () => {
    const key = await plane.newKey(['workspace_service_api_keys.create'], 'organisation/service');
    const create = (scopes: string[]) => () =>
      plane.ask('POST', '/api-keys/workspace/service', { key, body: { name: 'k', scopes } });
    expect((await create(['completions.write'])()).status).toBe(200);
    await expectRefusal(plane, create(['configs.list']), 403, 'AB03', true);
  });

  it('exclude keys of a type it has no scope for', async () => {
    const key = await plane.newKey(['workspace_user_api_keys.read', 'workspace_user_api_keys.list']);
    const { id } = (await plane.ask('POST', '/api-keys/workspace/service', { body })).body;
    await expectRefusal(plane, () => plane.ask('GET', `/api-keys/${id}`, { key }), 403, 'AB03', false);
    expect((await plane.ask('GET', '/api-keys', { key })).body.total).toBe(0);
  });
});
