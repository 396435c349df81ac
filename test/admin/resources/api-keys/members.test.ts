import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiKeys } from '../../../../admin/resources/api-keys/entity.ts';
import { organisations } from '../../../../admin/resources/organisations/entity.ts';
import { expectRefusal } from '../../support/outcomes.ts';
import { newPerson, type Person } from '../../support/people.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('keys that users manage themselves, on %s', (database) => {
  let plane: Plane;
  let member: Person;
  let manager: Person;
  beforeAll(async () => {
    plane = await startPlane(database);
    member = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'member' }]);
    manager = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'manager' }]);
    const securitySettings = { membersViewApiKeys: true, membersWriteApiKeys: true };
    await plane.control.services.database.em().nativeUpdate(organisations, { id: plane.organisationId }, { securitySettings });
  });
  afterAll(() => plane?.close());

  const make = (who: Person, owner: Person) =>
    plane.ask('POST', '/api-keys/workspace/user', {
      key: who.token,
      body: { name: 'U', scopes: ['completions.write'], user_id: owner.id, workspace_id: plane.workspaceId },
    });

  it('are visible to their own members only', async () => {
    const theirs = (await make(manager, manager)).body.id;
    const own = await make(member, member);
    expect(own.status, JSON.stringify(own.body)).toBe(200);
    await expectRefusal(plane, () => make(member, manager), 400, 'AB01', true);
    const list = await plane.ask('GET', `/api-keys?workspace_id=${plane.workspaceId}`, { key: member.token });
    expect(list.body.data.map((key: { id: string }) => key.id)).toEqual([own.body.id]);
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PUT', '', { name: 'Mine' }],
      ['DELETE', '', undefined],
      ['POST', '/rotate', {}],
    ] as const) {
      const ask = (id: string) => () => plane.ask(method, `/api-keys/${id}${path}`, { key: member.token, body });
      await expectRefusal(plane, ask(theirs), 404, 'AB08', method !== 'GET');
    }
    expect((await plane.ask('POST', `/api-keys/${own.body.id}/rotate`, { key: member.token, body: {} })).status).toBe(200);
  });

  it('are all visible to managers, who are recorded as creators', async () => {
    const { id } = (await make(manager, member)).body;
    const list = await plane.ask('GET', `/api-keys?workspace_id=${plane.workspaceId}`, { key: manager.token });
    expect(list.body.data.some((key: { type: string }) => key.type === 'workspace-service')).toBe(true);
    const row = await plane.control.services.database.em().findOneOrFail(apiKeys, { id });
    expect([row.grantedByUserId, row.grantedByKeyId, row.creationMode]).toEqual([manager.id, null, 'ui']);
  });

  it('have no self route for a session', async () => {
    const ask = () => plane.ask('GET', '/api-keys/self/details', { key: manager.token });
    await expectRefusal(plane, ask, 403, 'AB03', false);
  });
});
