import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authenticateToken } from '../../../../admin/identity/jwt/authenticate-token.ts';
import { workspaces } from '../../../../admin/resources/workspaces/entity.ts';
import { keyPurposes } from '../../../../core/contract/protocol/credentials/key-purposes.ts';
import { tokenVerdictContext } from '../../../../core/contract/protocol/credentials/tokens.ts';
import { deriveKey, seal } from '../../../../core/contract/values/credentials/secret.ts';
import { newMemoryLog } from '../../../support/fakes/memory-log.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('the verdict of a gateway about a JWT, on %s', (database) => {
  let plane: Plane;
  let gateway: Server;
  let verdict: object;
  beforeAll(async () => {
    plane = await startPlane(database);
    gateway = createServer(async (request, response) => {
      const { token, requestId } = JSON.parse(await text(request));
      const context = tokenVerdictContext(hash('sha256', token, 'hex'), requestId);
      const key = deriveKey(plane.settings.clusterKey, keyPurposes.transport);
      response.end(JSON.stringify({ sealed: seal(key, JSON.stringify(verdict), context) }));
    }).listen(0, '127.0.0.1');
    await once(gateway, 'listening');
  });
  afterAll(async () => {
    gateway?.close();
    await plane?.close();
  });

  async function ask(changes: object): Promise<unknown> {
    const { organisationId, workspaceId } = plane;
    const keyId = '5a2f6f0e-9f0f-8a53-9d5e-3a8f3a2f0fff';
    verdict = { keyId, organisationId, workspaceId, userId: null, subject: 's', scopes: ['configs.list', 'x.y'], ...changes };
    const gatewayUrl = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
    const services = { settings: { ...plane.settings, gatewayUrl }, log: newMemoryLog() };
    const sent = { method: 'GET', path: '/v2/configs', requestId: 'r', clientAddress: '192.0.2.1', header: () => undefined };
    const found = await authenticateToken(plane.control.services.database.em(), 'eyJ.a.b', sent, services);
    return 'actor' in found ? [...found.actor.scopes] : found.refused.message;
  }

  it('counts while its workspace is active, in its organisation, with its user as member', async () => {
    const refused = 'This token has no access to this workspace';
    expect(await ask({})).toEqual(['configs.list']);
    expect(await ask({ organisationId: (await plane.newTenant()).organisationId })).toBe(refused);
    expect(await ask({ userId: '0b8e2c1e-1c4b-4b6e-9a53-3a8f3a2f0fff' })).toBe(refused);
    const { id } = (await plane.ask('POST', '/workspaces', { body: { name: 'Gone', slug: 'ws-gone' } })).body;
    expect(await ask({ workspaceId: id })).toEqual(['configs.list']);
    await plane.control.services.database.em().nativeUpdate(workspaces, { id }, { status: 'archived' });
    expect(await ask({ workspaceId: id })).toBe(refused);
  });
});
