import { afterAll, beforeAll, describe, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { refusesMissingScopes } from '../../support/refusal-suites.ts';
import { ruleDatabases } from '../../support/test-database.ts';

refusesMissingScopes('configs', [
  { method: 'GET', path: '/configs' },
  { method: 'POST', path: '/configs', body: { name: 'x', config: {} } },
  { method: 'GET', path: '/configs/any' },
  { method: 'PUT', path: '/configs/any', body: { name: 'y' } },
  { method: 'DELETE', path: '/configs/any' },
  { method: 'GET', path: '/configs/any/versions' },
]);

describe.each(ruleDatabases)('a workspace key, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  it('is limited to its own workspace', async () => {
    const second = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Second' } })).body;
    for (const name of [second.id, second.slug, 'no-such-workspace']) {
      const body = { name: 'x', config: { provider: 'openai' }, workspace_id: name };
      await expectRefusal(plane, () => plane.ask('POST', '/configs', { key: plane.workspaceKey, body }), 403, 'AB03', true);
      await expectRefusal(
        plane,
        () => plane.ask('GET', `/configs?workspace_id=${name}`, { key: plane.workspaceKey }),
        403,
        'AB03',
        false,
      );
    }
  });
});
