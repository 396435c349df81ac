import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';
import { addPerson, setRow, setSettings } from './people.ts';

describe.each(ruleDatabases)('a key’s reply can be sent back, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const make = async (body: object, type = 'service'): Promise<string> => {
    const sent = { name: 'k', scopes: ['completions.write'], ...body };
    const reply = await plane.ask('POST', `/api-keys/workspace/${type}`, { body: sent });
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    return reply.body.id;
  };
  const read = async (id: string) => (await plane.ask('GET', `/api-keys/${id}?include_usage=true`)).body;
  const put = (id: string, body: unknown) => plane.ask('PUT', `/api-keys/${id}`, { body });
  /** Sends back the updatable fields that the reply contains. */
  async function sendBack(id: string): Promise<void> {
    const before = await read(id);
    const { name, description, rate_limits, usage_limits, scopes, defaults, alert_emails, expires_at, rotation_policy } = before;
    const same = { name, description, rate_limits, usage_limits, scopes, alert_emails, expires_at, rotation_policy };
    const config = { ...defaults, allow_config_override: before.allow_config_override === 1 };
    const reply = await put(id, { ...same, defaults: config });
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    expect({ ...(await read(id)), last_updated_at: before.last_updated_at }).toEqual(before);
  }
  const rich = {
    usage_limits: { type: 'cost', credit_limit: 10, alert_threshold: 5, periodic_reset: 'weekly' },
    rate_limits: [{ type: 'requests', unit: 'rpm', value: 5 }],
    alert_emails: ['team@example.com'],
    expires_at: '2098-01-01T00:00:00Z',
    rotation_policy: { rotation_period: 'weekly' },
    defaults: { metadata: { team: 'a' }, allow_config_override: false },
  };

  it('with everything that it can have, and with nothing', async () => {
    await sendBack(await make(rich));
    await sendBack(await make({}));
    await sendBack(await make({ rotation_policy: { next_rotation_at: '2097-01-01T12:00:00Z' } }));
  });

  it('when its end, or the day of its rotation, has passed', async () => {
    const id = await make(rich);
    const past = new Date(Date.now() - 86_400_000);
    const secretExpiresAt = new Date(past.getTime() + 1_800_000);
    await setRow(plane, id, { expiresAt: past, nextRotationAt: past, secretExpiresAt });
    await sendBack(id);
    for (const later of [
      { expires_at: '2020-01-01T00:00:00Z' },
      { rotation_policy: { next_rotation_at: '2020-01-01T00:00:00Z' } },
    ]) {
      expect((await put(id, later)).status).toBe(400);
    }
  });

  it('with a lifetime and rotation that the workspace sets', async () => {
    await setSettings(plane, { user_api_key_rotation_period: 7, user_api_key_ttl: 86_400 });
    const id = await make({ user_id: await addPerson(plane) }, 'user');
    await sendBack(id);
    const { rotation_policy } = await read(id);
    const other = { ...rotation_policy, next_rotation_at: '2097-01-01T00:00:00Z' };
    expect((await put(id, { rotation_policy: other })).body.data.message).toContain('rotation_policy.next_rotation_at: ');
    await setSettings(plane, {});
  });

  it('a new period sent with the old date keeps that date for the next cycle', async () => {
    const id = await make({ rotation_policy: { rotation_period: 'weekly' } });
    const { next_rotation_at } = (await read(id)).rotation_policy;
    expect((await put(id, { rotation_policy: { rotation_period: 'monthly', next_rotation_at } })).status).toBe(200);
    expect((await read(id)).rotation_policy).toMatchObject({ rotation_period: 'monthly', next_rotation_at });
  });

  it('except that the id of a budget cannot be chosen, and usage cannot be set', async () => {
    const id = await make(rich);
    const { usage_limits } = await read(id);
    const other = await put(id, { usage_limits: { ...usage_limits, id: '7f9c2d1e-0000-4000-8000-000000000001' } });
    expect([other.status, other.body.data.message]).toEqual([400, expect.stringContaining('usage_limits.id: ')]);
    expect((await put(id, { usage_limits: { ...usage_limits, current_usage: 3 } })).status).toBe(200);
    expect((await read(id)).usage_limits.current_usage).toBe(0);
  });
});
