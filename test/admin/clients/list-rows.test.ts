import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabase } from '../support/test-database.ts';

let plane: Plane;
beforeAll(async () => {
  plane = await startPlane(ruleDatabase);
});
afterAll(() => plane?.close());

const rowsOf = async (path: string) => (await plane.ask('GET', path)).body.data;

/** Clients of the known API choose a provider by its type and the name of its workspace. */
it.each(['/providers', '/virtual-keys'])(
  'rows of %s have the type of the provider and the name of the workspace',
  async (path) => {
    const row = { slug: 'mock', provider: 'mock', workspace_name: 'Default workspace', organisation_id: plane.organisationId };
    expect(await rowsOf(path)).toEqual([expect.objectContaining(row)]);
    expect(await rowsOf(`${path}?return_last_used=true`)).toEqual([expect.objectContaining({ ...row, last_used_at: null })]);
  },
);

it('rows of /configs have their object', async () => {
  const body = { name: 'c', config: { provider: '@mock' }, workspace_id: plane.workspaceId };
  expect(await plane.ask('POST', '/configs', { body })).toMatchObject({ status: 200 });
  expect(await rowsOf('/configs')).toMatchObject([{ name: 'c', object: 'config' }]);
});
