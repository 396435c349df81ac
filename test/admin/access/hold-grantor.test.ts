import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Actor } from '../../../admin/http/caller/actor.ts';
import { holdGrantor } from '../../../admin/resources/api-keys/grants.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

describe.each(ruleDatabases)('a key that grants scopes, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  it('is rejected if it has lost scopes since the request began, or was deleted', async () => {
    const body = { name: 'K', scopes: ['configs.list', 'configs.create'] };
    const { id } = (await plane.ask('POST', '/api-keys/workspace/service', { body })).body;
    const { organisationId, workspaceId } = plane;
    const actor: Actor = {
      ...{ keyId: id, type: 'workspace-service', organisationId, workspaceId, userId: null },
      scopes: new Set(body.scopes),
    };
    const granted = { scopes: ['configs.list'], workspaceId };
    const hold = (by: Actor) =>
      plane.control.services.database.emOf(organisationId).transactional((tx) => holdGrantor(tx, by, granted));
    expect(await hold(actor)).toEqual({ grantedByKeyId: id, grantedByUserId: null });
    await plane.ask('PUT', `/api-keys/${id}`, { body: { scopes: ['configs.list'] } });
    await expect(hold(actor)).rejects.toMatchObject({ code: 'AB03' });
    expect(await hold({ ...actor, scopes: new Set(['configs.list']) })).toMatchObject({ grantedByKeyId: id });
    await plane.ask('DELETE', `/api-keys/${id}`);
    await expect(hold({ ...actor, scopes: new Set() })).rejects.toMatchObject({ code: 'AB05' });
  });
});
