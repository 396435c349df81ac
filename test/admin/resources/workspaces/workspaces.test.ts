import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('workspaces, on %s', (database) => {
  let plane: Plane;
  let second: { id: string; slug: string };
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  it('can be created by organisation keys, with a full reply', async () => {
    const body = {
      name: 'Second',
      description: 'two',
      icon: '🚀',
      defaults: { metadata: { team: 'b' } },
      usage_limits: [],
      rate_limits: [],
      reject_unmetered_requests: true,
    };
    const before = (await plane.events()).length;
    const reply = await plane.ask('POST', '/admin/workspaces', { body });
    second = reply.body;
    expect(reply.body).toMatchObject({
      id: expect.any(String),
      slug: expect.stringMatching(/^ws-second-/),
      name: '🚀 Second',
      description: 'two',
      reject_unmetered_requests: true,
      defaults: { metadata: { team: 'b' }, is_default: 0, input_guardrails: [], object: 'workspace' },
      users: [],
    });
    const events = (await plane.events()).slice(before);
    expect(events).toMatchObject([{ kind: 'workspace', documentId: second.id, op: 'upsert' }]);
    const document = (await plane.internal('GET', `/documents/workspace/${second.id}`)).body.document;
    expect(document).toMatchObject({ slug: second.slug, metadata: { team: 'b' }, defaultConfigSlug: null });
  });

  it('can be listed and read by id and slug, under both paths', async () => {
    const list = (await plane.ask('GET', '/workspaces')).body;
    expect(list).toMatchObject({ object: 'list', total: 2 });
    expect((await plane.ask('GET', '/admin/workspaces?name=SEC')).body.data.map((one: { id: string }) => one.id)).toEqual([
      second.id,
    ]);
    expect((await plane.ask('GET', '/admin/workspaces?name=%25')).body.total).toBe(0);
    expect((await plane.ask('GET', `/admin/workspaces/${second.slug}?name_format=plain`)).body).toMatchObject({
      id: second.id,
      name: 'Second',
    });
  });

  it('can be changed by organisation keys, and the own one by workspace keys', async () => {
    await expectChange(
      plane,
      () => plane.ask('PUT', `/admin/workspaces/${second.id}`, { body: { name: 'Zwei', description: null } }),
      {
        resource: 'workspaces',
        action: 'update',
        events: [`workspace ${second.id} upsert`],
      },
    );
    expect((await plane.ask('GET', `/admin/workspaces/${second.id}?name_format=plain`)).body).toMatchObject({
      name: 'Zwei',
      description: null,
    });
    const own = () =>
      plane.ask('PUT', '/admin/workspaces/ws-default', { key: plane.workspaceKey, body: { defaults: { metadata: { a: 'b' } } } });
    expect((await own()).status).toBe(200);
    const other = () => plane.ask('PUT', `/admin/workspaces/${second.id}`, { key: plane.workspaceKey, body: { name: 'x' } });
    await expectRefusal(plane, other, 404, 'AB08', true);
    expect((await plane.ask('GET', '/admin/workspaces', { key: plane.workspaceKey })).body.total).toBe(1);
  });

  it('keep a name that starts like an icon, if it has none or was sent that way', async () => {
    const { id } = (await plane.ask('POST', '/workspaces', { body: { name: 'Team' } })).body;
    const named = async (body: object, query = '') => {
      expect((await plane.ask('PUT', `/workspaces/${id}${query}`, { body })).status).toBe(200);
      return (await plane.ask('GET', `/workspaces/${id}?name_format=plain`)).body.name;
    };
    expect(await named({ name: 'null pointers' })).toBe('null pointers');
    expect(await named({ name: '🧪 Lab', icon: '🧪' })).toBe('Lab');
    expect(await named({ name: '🧪 Lab' }, '?name_format=plain')).toBe('🧪 Lab');
  });

  it('are found by their name with and without the icon', async () => {
    const { id, name } = (await plane.ask('POST', '/workspaces', { body: { name: 'Probe_1', icon: '🛰' } })).body;
    const found = async (query: object) =>
      (await plane.ask('GET', `/workspaces?${new URLSearchParams({ ...query })}`)).body.data.map((one: { id: string }) => one.id);
    expect(name).toBe('🛰 Probe_1');
    for (const query of [{ exact_name: name }, { exact_name: 'Probe_1' }, { name }, { name: '🛰' }, { name: 'probe_' }])
      expect(await found(query), JSON.stringify(query)).toEqual([id]);
    for (const query of [{ exact_name: '🛰' }, { exact_name: 'probe_1' }, { exact_name: '' }, { name: 'Probe%1' }])
      expect(await found(query), JSON.stringify(query)).toEqual([]);
  });

  it('show the usage of the named budget only', async () => {
    const usage_limits = [{ type: 'cost', credit_limit: 10 }];
    const made = (await plane.ask('POST', '/workspaces', { body: { name: 'Budget', usage_limits } })).body;
    const read = (query: string) => plane.ask('GET', `/workspaces/${made.id}?${query}`);
    const budget = made.usage_limits[0].id;
    expect((await read(`usage_id=${budget}`)).body.usage_limits[0]).toMatchObject({ id: budget, current_usage: 0 });
    expect((await read(`usage_id=${made.id}&include_usage=true`)).body.data).toMatchObject({ errorCode: 'AB02' });
    expect((await read('usage_id=x')).body.data.message).toBe('usage_id: a UUID is expected');
  });

  it('reject control characters in names, like the organisation', async () => {
    for (const [method, path] of [
      ['POST', '/workspaces'],
      ['PUT', `/workspaces/${plane.workspaceId}`],
      ['PUT', '/organisations/self'],
    ] as const) {
      const reply = await plane.ask(method, path, { body: { name: 'a\nb' } });
      expect(reply.body.data?.message).toBe('name: control characters are not allowed');
    }
  });

  it('are rejected with a reason', async () => {
    const create = (body: unknown, key?: string) => () =>
      plane.ask('POST', '/admin/workspaces', { body, ...(key ? { key } : {}) });
    await expectRefusal(plane, create({ name: 'x'.repeat(129) }), 400, 'AB01', true);
    await expectRefusal(plane, create({ name: 'x', usage_limits: [{ type: 'cost', credit_limit: 0 }] }), 400, 'AB01', true);
    const taken = await expectRefusal(plane, create({ name: 'x', slug: 'ws-default' }), 409, 'AB07', true);
    expect(taken.body.data.message).toBe('slug: something with this slug already exists');
    await expectRefusal(plane, create({ name: 'x' }, plane.workspaceKey), 403, 'AB03', true);
    await expectRefusal(plane, create({ name: 'x' }, 'nonsense'), 401, 'AB05', false);
    const foreign = await plane.newTenant();
    await expectRefusal(plane, () => plane.ask('GET', `/admin/workspaces/${foreign.workspaceId}`), 404, 'AB08', false);
  });

  it('have an organisation that returns its own data', async () => {
    expect((await plane.ask('GET', '/organisations/self')).body.data).toMatchObject({
      id: plane.organisationId,
      object: 'organisation',
    });
    await expectRefusal(plane, () => plane.ask('GET', '/organisations/self', { key: plane.workspaceKey }), 403, 'AB03', false);
  });
});
