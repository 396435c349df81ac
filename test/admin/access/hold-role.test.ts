import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdRole } from '../../../admin/access/hold-role.ts';
import type { SignedIn } from '../../../admin/http/caller/actor.ts';
import { newPerson } from '../support/people.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { databases } from '../support/test-database.ts';

describe.each(databases)('a user who grants rights, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  it('is rejected if their role has changed since the request began', async () => {
    const person = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'manager' }]);
    const asOf = (role: 'manager' | 'member'): SignedIn => ({
      userId: person.id,
      role: 'member',
      createdAt: new Date(),
      expiresAt: new Date(),
      memberships: new Map([[plane.workspaceId, { role, scopes: new Set<string>() }]]),
    });
    const hold = (session: SignedIn) =>
      plane.control.services.database
        .emOf(plane.organisationId)
        .transactional((tx) => holdRole(tx, plane.organisationId, session));
    await expect(hold(asOf('manager'))).resolves.toBeUndefined();
    await plane.ask('PUT', `/workspaces/${plane.workspaceId}/users/${person.id}`, { body: { role: 'member' } });
    await expect(hold(asOf('manager'))).rejects.toMatchObject({ code: 'AB03' });
    await expect(hold(asOf('member'))).resolves.toBeUndefined();
    await expect(hold({ ...asOf('member'), role: 'admin' })).rejects.toMatchObject({ code: 'AB03' });
    await plane.ask('DELETE', `/admin/users/${person.id}`);
    await expect(hold(asOf('member'))).rejects.toMatchObject({ code: 'AB03' });
  });
});
