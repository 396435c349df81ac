import { afterAll, beforeAll, describe, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { refusesMissingScopes } from '../../support/refusal-suites.ts';
import { ruleDatabases } from '../../support/test-database.ts';

refusesMissingScopes('integrations', [
  { method: 'GET', path: '/integrations' },
  { method: 'POST', path: '/integrations', body: { name: 'x', ai_provider_id: 'openai' } },
  { method: 'GET', path: '/integrations/any' },
  { method: 'PUT', path: '/integrations/any', body: {} },
  { method: 'DELETE', path: '/integrations/any' },
  { method: 'GET', path: '/integrations/any/workspaces' },
  { method: 'PUT', path: '/integrations/any/workspaces', body: {} },
]);

describe.each(ruleDatabases)('a key with workspace scopes only, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  it('cannot create an integration of the organisation', async () => {
    const key = await plane.newKey(['workspace_integrations.create', 'workspace_integrations.update'], 'organisation/service');
    const body = { name: 'x', ai_provider_id: 'openai' };
    await expectRefusal(plane, () => plane.ask('POST', '/integrations', { key, body }), 403, 'AB03', true);
    await expectRefusal(plane, () => plane.ask('PUT', '/integrations/mock', { key, body: { name: 'y' } }), 403, 'AB03', true);
  });

  it('cannot share integrations', async () => {
    const request = () => plane.ask('PUT', '/integrations/mock/workspaces', { key: plane.workspaceKey, body: {} });
    await expectRefusal(plane, request, 403, 'AB03', true);
  });
});
