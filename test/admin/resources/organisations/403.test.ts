import { afterAll, beforeAll, describe, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { type Probe, refusesMissingScopes } from '../../support/refusal-suites.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const probes: readonly Probe[] = [
  { method: 'GET', path: '/organisations/self' },
  { method: 'PUT', path: '/organisations/self', body: { name: 'x' } },
  { method: 'GET', path: '/organisations/self/auth-settings' },
  { method: 'PUT', path: '/organisations/self/auth-settings', body: {} },
  { method: 'GET', path: '/admin/organisation/defaults' },
  { method: 'PUT', path: '/admin/organisation/defaults', body: {} },
  { method: 'GET', path: '/logs/exports/field-restrictions' },
];

refusesMissingScopes('organisations', probes);

describe.each(ruleDatabases)('organisation routes with a workspace key, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  it.each(probes.slice(0, -1))('reject $method $path', async (probe) => {
    const ask = () => plane.ask(probe.method, probe.path, { key: plane.workspaceKey, body: probe.body });
    await expectRefusal(plane, ask, 403, 'AB03', probe.method !== 'GET');
  });
});
