import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('a key’s own details, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  it('contain everything except its secret, with any scope', async () => {
    const key = await plane.newKey(['completions.write']);
    const { body } = await plane.ask('GET', '/api-keys/self/details', { key });
    expect(body).toEqual({ success: true, data: { api_key_details: expect.any(Object) } });
    expect(body.data.api_key_details).toMatchObject({ name: 'test key', scopes: ['completions.write'], status: 'active' });
    expect(JSON.stringify(body)).not.toContain(key.slice(0, -4));
  });

  it('include its organisation and workspace on request', async () => {
    const path = '/api-keys/self/details?include_organisation=true&include_workspace=true';
    const { data } = (await plane.ask('GET', path, { key: plane.workspaceKey })).body;
    expect(data.organisation_details).toMatchObject({ id: plane.organisationId });
    expect(data.workspace_details).toMatchObject({ id: plane.workspaceId, slug: 'ws-default' });
    const ofAdmin = (await plane.ask('GET', path)).body.data;
    expect(ofAdmin.workspace_details).toBeNull();
  });

  it('require a key and a valid query', async () => {
    await expectRefusal(plane, () => plane.ask('GET', '/api-keys/self/details', { key: null }), 401, 'AB05', false);
    const ask = () => plane.ask('GET', '/api-keys/self/details?include_workspace=yes');
    await expectRefusal(plane, ask, 400, 'AB01', false);
  });
});
