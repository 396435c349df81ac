import { afterAll, beforeAll, describe, it } from 'vitest';
import { apiKeys } from '../../../admin/resources/api-keys/entity.ts';
import { newApiKey, parseApiKey } from '../../../core/contract/values/credentials/api-key.ts';
import { expectRefusal } from './outcomes.ts';
import { type Plane, startPlane, type Tenant } from './plane.ts';
import { ruleDatabases } from './test-database.ts';

/** A request of a route: method, path, and a valid body. */
export interface Probe {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
}

const nameOf = (probe: Probe) => `${probe.method} ${probe.path}`;

/**
 * Every route of a resource rejects keys that are missing, malformed, unknown, wrong or expired, and writes an audit entry if the
 * tenant is known.
 */
export function refusesUnknownKeys(resource: string, probes: readonly Probe[]): void {
  describe.each(ruleDatabases)(`${resource} without a good key, on %s`, (database) => {
    let plane: Plane;
    let expired: string;
    beforeAll(async () => {
      plane = await startPlane(database);
      expired = await plane.newKey(['configs.list']);
      const past = new Date(Date.now() - 1_000);
      await plane.control.services.database
        .em()
        .nativeUpdate(apiKeys, { publicId: parseApiKey(expired)?.id ?? '' }, { expiresAt: past });
    });
    afterAll(() => plane?.close());

    for (const probe of probes) {
      const changes = probe.method !== 'GET';
      const ask = (key: string | null) => () => plane.ask(probe.method, probe.path, { key, body: probe.body });

      it(`${nameOf(probe)} asks for a key`, async () => {
        await expectRefusal(plane, ask(null), 401, 'AB05', false);
      });

      it(`${nameOf(probe)} refuses a mistyped, an unknown and an expired key`, async () => {
        await expectRefusal(
          plane,
          ask(`${plane.adminKey.slice(0, -1)}${plane.adminKey.endsWith('A') ? 'B' : 'A'}`),
          401,
          'AB05',
          false,
        );
        await expectRefusal(plane, ask(newApiKey('admin').text), 401, 'AB05', false);
        await expectRefusal(plane, ask(expired), 401, 'AB05', changes);
      });

      it(`${nameOf(probe)} refuses a wrong secret and a wrong kind for a key that exists`, async () => {
        const id = parseApiKey(plane.adminKey)?.id ?? '';
        await expectRefusal(plane, ask(newApiKey('admin', id).text), 401, 'AB05', changes);
        await expectRefusal(plane, ask(newApiKey('ws', id).text), 401, 'AB05', changes);
      });
    }
  });
}

/**
 * Every route of a resource rejects a valid key without its scope, and writes an audit entry if the request would change
 * something.
 */
export function refusesMissingScopes(resource: string, probes: readonly Probe[]): void {
  describe.each(ruleDatabases)(`${resource} without the scope, on %s`, (database) => {
    let plane: Plane;
    let key: string;
    let adminKey: string;
    beforeAll(async () => {
      plane = await startPlane(database);
      key = await plane.newKey(['completions.write']);
      adminKey = await plane.newKey(['plugins.list'], 'organisation/service');
    });
    afterAll(() => plane?.close());

    it.each(probes)('$method $path is forbidden', async (probe) => {
      for (const one of [key, adminKey]) {
        const request = () => plane.ask(probe.method, probe.path, { key: one, body: probe.body });
        await expectRefusal(plane, request, 403, 'AB03', probe.method !== 'GET');
      }
    });
  });
}

/** Items of another organisation, or of none, are not found by id or slug, with any key that has the scopes. */
export function hidesForeignItems(
  resource: string,
  prepare: (plane: Plane, owner: Tenant) => Promise<readonly string[]>,
  probesFor: (idOrSlug: string) => readonly Probe[],
  keys: readonly ('adminKey' | 'workspaceKey')[] = ['adminKey', 'workspaceKey'],
): void {
  describe.each(ruleDatabases)(`${resource} of others, on %s`, (database) => {
    let plane: Plane;
    let other: Tenant;
    let names: readonly string[];
    beforeAll(async () => {
      plane = await startPlane(database);
      other = await plane.newTenant();
      names = [...(await prepare(plane, plane)), '00000000-0000-4000-8000-000000000000', 'no-such-slug'];
    });
    afterAll(() => plane?.close());

    it('are not found by the keys of another organisation', async () => {
      for (const name of names) {
        for (const probe of probesFor(name)) {
          for (const key of keys.map((one) => other[one])) {
            const request = () => plane.ask(probe.method, probe.path, { key, body: probe.body });
            await expectRefusal(plane, request, 404, 'AB08', probe.method !== 'GET');
          }
        }
      }
    });
  });
}
