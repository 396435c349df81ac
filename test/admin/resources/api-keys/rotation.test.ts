import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseApiKey } from '../../../../core/contract/values/credentials/api-key.ts';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';
import { documentOf, setRow } from './people.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

describe.each(ruleDatabases)('rotation, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const make = async (rotation_policy?: unknown) =>
    (await plane.ask('POST', '/api-keys/workspace/service', { body: { name: 'R', scopes: ['configs.list'], rotation_policy } }))
      .body as { id: string; key: string };
  const read = async (id: string) => (await plane.ask('GET', `/api-keys/${id}`)).body;
  const use = async (key: string) => (await plane.ask('GET', '/configs', { key })).status;
  const rotate = (id: string, body: unknown = {}) => plane.ask('POST', `/api-keys/${id}/rotate`, { body });

  it('policies are stored, returned, sent to gateways, and removed by null', async () => {
    const { id, key } = await make({ rotation_period_days: 30, key_transition_period_ms: hour });
    const { rotation_policy: policy } = await read(id);
    expect(policy).toMatchObject({
      rotation_period: null,
      rotation_period_days: 30,
      key_transition_period_ms: hour,
      status: 'ACTIVE',
    });
    expect(policy.next_rotation_at).toMatch(/T00:00:00\.000Z$/);
    expect(Date.parse(policy.secret_expires_at) - Date.parse(policy.next_rotation_at)).toBe(hour);
    expect(await documentOf(plane, key)).toMatchObject({ secretExpiresAt: policy.secret_expires_at });
    await expectChange(plane, () => plane.ask('PUT', `/api-keys/${id}`, { body: { rotation_policy: null } }), {
      resource: 'api_keys',
      action: 'update',
      events: [`api-key ${parseApiKey(key)?.id} upsert`],
    });
    expect((await read(id)).rotation_policy).toBeNull();
    expect(await documentOf(plane, key)).toMatchObject({ secretExpiresAt: null });
  });

  it('leaves a due secret valid through the transition, and then rejects it until the key is rotated', async () => {
    const { id, key } = await make({ rotation_period: 'monthly' });
    const due = new Date(Date.now() - 10 * minute);
    await setRow(plane, id, { nextRotationAt: due, secretExpiresAt: new Date(due.getTime() + 30 * minute) });
    expect(await use(key)).toBe(200);

    await setRow(plane, id, { nextRotationAt: new Date(Date.now() - hour), secretExpiresAt: new Date(Date.now() - minute) });
    await expectRefusal(plane, () => plane.ask('GET', '/configs', { key }), 401, 'AB05', false);
    expect((await read(id)).status).toBe('expired');
    expect((await plane.ask('GET', '/api-keys?status=expired')).body.data.map((one: { id: string }) => one.id)).toEqual([id]);
    expect(await documentOf(plane, key)).toMatchObject({ status: 'expired' });

    const rotated = (await rotate(id)).body;
    expect(await use(rotated.key)).toBe(200);
    // The old secret has ended and does not become valid again.
    expect(await use(key)).toBe(401);
    expect(await documentOf(plane, key)).toMatchObject({ status: 'active', previousDigest: null });
    expect(Date.parse((await read(id)).rotation_policy.next_rotation_at)).toBeGreaterThan(Date.now());
  });

  it('never lets an old secret outlive the end that its policy has set', async () => {
    const { id, key } = await make({ rotation_period: 'monthly' });
    const end = new Date(Date.now() + 10 * minute);
    await setRow(plane, id, { nextRotationAt: new Date(end.getTime() - 30 * minute), secretExpiresAt: end });
    const rotated = (await rotate(id, { key_transition_period_ms: day })).body;
    expect(rotated.key_transition_expires_at).toBe(end.toISOString());
    expect(await use(key)).toBe(200);
  });

  it('uses the length of the policy by default, and counts the next one from the end of the transition', async () => {
    const { id } = await make({ rotation_period_days: 3, key_transition_period_ms: 2 * hour });
    const before = Date.now();
    const ends = Date.parse((await rotate(id)).body.key_transition_expires_at);
    expect(ends - before).toBeGreaterThan(2 * hour - minute);
    expect(ends - before).toBeLessThan(2 * hour + minute);
    const { last_rotated_at: rotatedAt, rotation_policy: policy } = await read(id);
    expect(Date.parse(rotatedAt)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(policy.next_rotation_at)).toBeGreaterThan(ends + 2 * day - minute);
    await expectRefusal(plane, () => rotate(id), 409, 'AB07', true);
  });

  it('rejects a transition as long as the period', async () => {
    const { id } = await make({ rotation_period_days: 1 });
    await expectRefusal(plane, () => rotate(id, { key_transition_period_ms: day }), 400, 'AB01', true);
    await expectRefusal(plane, () => rotate(id, { key_transition_period_ms: 1_799_999 }), 400, 'AB01', true);
    const never = { rotation_policy: { rotation_period: 'hourly' } };
    await expectRefusal(plane, () => plane.ask('PUT', `/api-keys/${id}`, { body: never }), 400, 'AB01', true);
  });

  it('happens once for two concurrent requests', async () => {
    const { id } = await make();
    const replies = await Promise.all([rotate(id), rotate(id), rotate(id)]);
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, 409, 409]);
  });
});
