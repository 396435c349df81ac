import { afterAll, beforeAll, describe, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('other organisations, on %s', (database) => {
  let plane: Plane;
  let other: string;
  beforeAll(async () => {
    plane = await startPlane(database);
    other = (await plane.newTenant()).organisationId;
  });
  afterAll(() => plane?.close());

  it('are not found, by path, query or body', async () => {
    const get = (path: string) => () => plane.ask('GET', path);
    await expectRefusal(plane, get(`/organisations/${other}/auth-settings`), 404, 'AB08', false);
    await expectRefusal(plane, get(`/organisations/self?organisation_id=${other}`), 404, 'AB08', false);
    const put = (path: string, body: unknown) => () => plane.ask('PUT', path, { body });
    await expectRefusal(plane, put(`/organisations/${other}/auth-settings`, {}), 404, 'AB08', true);
    await expectRefusal(plane, put('/organisations/self', { organisation_id: other, name: 'x' }), 404, 'AB08', true);
    await expectRefusal(plane, put('/admin/organisation/defaults', { organisation_id: other }), 404, 'AB08', true);
  });

  it('cannot be given unknown guardrails', async () => {
    for (const list of ['input_guardrails', 'output_guardrails']) {
      const body = { [list]: ['pg-none'] };
      await expectRefusal(plane, () => plane.ask('PUT', '/admin/organisation/defaults', { body }), 404, 'AB02', true);
    }
  });
});
