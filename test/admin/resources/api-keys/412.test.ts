import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('versions of API keys, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  it('are checked: a stale one is rejected for every change, the current one is accepted', async () => {
    const body = { name: 'V', scopes: ['configs.list'] };
    const { id } = (await plane.ask('POST', '/api-keys/workspace/service', { body })).body;
    const tag = async () => (await plane.ask('GET', `/api-keys/${id}`)).headers.get('etag') ?? '';
    const stale = await tag();
    await plane.ask('PUT', `/api-keys/${id}`, { body: { name: 'W' } });
    const headers = { 'if-match': stale };
    await expectRefusal(plane, () => plane.ask('PUT', `/api-keys/${id}`, { body: { name: 'X' }, headers }), 412, 'AB12', true);
    await expectRefusal(plane, () => plane.ask('POST', `/api-keys/${id}/rotate`, { body: {}, headers }), 412, 'AB12', true);
    await expectRefusal(plane, () => plane.ask('DELETE', `/api-keys/${id}`, { headers }), 412, 'AB12', true);
    const current = { 'if-match': await tag() };
    expect((await plane.ask('DELETE', `/api-keys/${id}`, { headers: current })).status).toBe(200);
  });

  it('change when the granting key loses scopes', async () => {
    const manage = ['workspace_service_api_keys.create', 'configs.list'];
    const parent = (await plane.ask('POST', '/api-keys/workspace/service', { body: { name: 'P', scopes: manage } })).body;
    const child = await plane.ask('POST', '/api-keys/workspace/service', {
      key: parent.key,
      body: { name: 'C', scopes: ['configs.list'] },
    });
    const headers = { 'if-match': (await plane.ask('GET', `/api-keys/${child.body.id}`)).headers.get('etag') ?? '' };
    await plane.ask('PUT', `/api-keys/${parent.id}`, { body: { scopes: ['workspace_service_api_keys.create'] } });
    const rename = () => plane.ask('PUT', `/api-keys/${child.body.id}`, { body: { name: 'D' }, headers });
    await expectRefusal(plane, rename, 412, 'AB12', true);
  });
});
