import { afterAll, beforeAll, expect, it } from 'vitest';
import { adminRoutes } from '../../../admin/tables.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabase } from '../support/test-database.ts';

let plane: Plane;
beforeAll(async () => {
  plane = await startPlane(ruleDatabase, { ADMIN_REQUESTS_PER_KEY: '0', ADMIN_REQUESTS_PER_ADDRESS: '0' });
});
afterAll(() => plane?.close());

it.each(adminRoutes.map(({ method, path, protocol }) => ({ method, path: path.replace(/:\w+/g, 'x'), protocol })))(
  '$method $path: exists under /v1 and /v2',
  async ({ method, path, protocol }) => {
    const ask = async (base: string) => {
      const reply = await fetch(`${plane.url}${base}${path}`, { method });
      return [reply.status, await reply.json()];
    };
    const [first, second] = [await ask('/v1'), await ask('/v2')];
    // Rejected because the key is missing. An unknown path would be 404.
    expect(first).toMatchObject([401, protocol ? { status: '401' } : { data: { errorCode: 'AB05' } }]);
    expect(second).toEqual(first);
  },
);
