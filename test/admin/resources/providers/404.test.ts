import { afterAll, beforeAll, describe, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { hidesForeignItems } from '../../support/refusal-suites.ts';
import { ruleDatabases } from '../../support/test-database.ts';

hidesForeignItems(
  'providers',
  async (plane) => {
    const body = { name: 'Mine', slug: 'mine', integration_id: 'mock' };
    return [(await plane.ask('POST', '/providers', { body })).body.id, 'mine'];
  },
  (name) => [
    { method: 'GET', path: `/providers/${name}` },
    { method: 'PUT', path: `/providers/${name}`, body: { name: 'Stolen' } },
    { method: 'DELETE', path: `/providers/${name}` },
  ],
);

describe.each(ruleDatabases)('integrations of a provider, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  it('are not found if they belong to another organisation or are not shared with the workspace', async () => {
    const other = await plane.newTenant();
    const integration = { name: 'Private', slug: 'private', ai_provider_id: 'openai', key: 'sk-0123456789abcdef' };
    const made = (await plane.ask('POST', '/integrations', { body: integration })).body;
    const cases = [
      [other.adminKey, made.id],
      [other.adminKey, 'private'],
      [plane.workspaceKey, 'private'],
      [plane.adminKey, 'no-such'],
    ] as const;
    for (const [key, name] of cases) {
      const body = { name: 'x', integration_id: name };
      await expectRefusal(plane, () => plane.ask('POST', '/providers', { key, body }), 404, 'AB02', true);
    }
  });
});
