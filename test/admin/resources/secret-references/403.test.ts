import { afterAll, beforeAll, describe, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { newPerson } from '../../support/people.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { refusesMissingScopes } from '../../support/refusal-suites.ts';
import { ruleDatabases } from '../../support/test-database.ts';
import { probes, vaultReference } from './probes.ts';

refusesMissingScopes('secret references', probes('any'));

describe.each(ruleDatabases)('secret references with workspace rights, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
    await plane.ask('POST', '/secret-references', { body: { ...vaultReference, slug: 'any' } });
  });
  afterAll(() => plane?.close());

  it('are not accessible to keys of the workspace, with any scopes', async () => {
    const scopes = ['create', 'read', 'update', 'delete', 'list'].map((action) => `secret_references.${action}`);
    const key = await plane.newKey(scopes);
    for (const probe of probes('any')) {
      const request = () => plane.ask(probe.method, probe.path, { key, body: probe.body });
      await expectRefusal(plane, request, 403, 'AB03', probe.method !== 'GET');
    }
  });

  it('are not accessible to users of the workspace, with any role', async () => {
    for (const role of ['admin', 'manager', 'member', 'viewer'] as const) {
      const { token } = await newPerson(plane, 'member', [{ id: plane.workspaceId, role }]);
      for (const probe of probes('any')) {
        const request = () => plane.ask(probe.method, probe.path, { key: token, body: probe.body });
        await expectRefusal(plane, request, 403, 'AB03', probe.method !== 'GET');
      }
    }
  });
});
