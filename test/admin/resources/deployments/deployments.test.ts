import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { removeOldInstances } from '../../../../admin/resources/deployments/instances.ts';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';
import { probes } from './probes.ts';

/** A report of a gateway process as `core/control-plane/report-instance.ts` sends it. */
const report = (changes = {}) => ({
  ...{ id: randomUUID(), deployment: 'eu', tags: { region: 'eu-west-1' }, sourceType: 'helm', host: 'gw-1', slot: 0 },
  ...{ version: '1.2.3', startedAtMs: 1_700_000_000_000, isLeaving: false, ...changes },
});
const trace = (action: string) => ({ resource: 'deployments', action, events: [] });

describe.each(ruleDatabases)('deployments, on %s', (database) => {
  let plane: Plane;
  let now = Date.now();
  beforeAll(async () => {
    plane = await startPlane(database, {}, { clock: { now: () => now, elapsed: () => now } });
  });
  beforeEach(() => {
    now = Date.now();
  });
  afterAll(() => plane?.close());

  const send = async (body: unknown) => (await plane.internal('POST', '/instances', body)).status;
  const read = async (name: string) => (await plane.ask('GET', `/deployments/${name}`)).body;

  it('the first report registers the deployment; reports keep it healthy, and a gateway that leaves is removed', async () => {
    const first = report();
    expect((await plane.internal('POST', '/instances', first)).body).toEqual({ nowMs: expect.any(Number) });
    expect(await send(report({ slot: 1, tags: {} }))).toBe(200);
    const detail = await read('eu');
    expect(detail).toMatchObject({
      ...{ name: 'eu', slug: 'eu', type: 'production', status: 'active', is_default: 1, connection_status: 'healthy', tags: {} },
      ...{ source_type: 'helm', version: '1.2.3', created_by: null, last_synced_at: new Date(now).toISOString() },
      instances: expect.arrayContaining([
        {
          ...{ id: first.id, host: 'gw-1', slot: 0, version: '1.2.3', source_type: 'helm', tags: { region: 'eu-west-1' } },
          ...{ connection_status: 'healthy', started_at: '2023-11-14T22:13:20.000Z', last_seen_at: new Date(now).toISOString() },
        },
      ]),
    });
    expect(detail.instances).toHaveLength(2);
    now += 91_000;
    expect(await read('eu')).toMatchObject({ connection_status: 'unhealthy' });
    expect((await plane.ask('GET', '/deployments/eu/ping')).body.inbound).toEqual({
      status: 'unhealthy',
      error: 'No gateway has reported in time',
    });
    expect(await send(first)).toBe(200);
    expect(await read('eu')).toMatchObject({ connection_status: 'healthy', instances: [{ id: first.id }, {}] });
    expect(await send({ ...first, isLeaving: true })).toBe(200);
    expect((await read('eu')).instances).toMatchObject([{ slot: 1, connection_status: 'unhealthy' }]);
  });

  it('a gateway without a report for DEPLOYMENT_REMOVED_AFTER is removed, with a deployment that only reports created', async () => {
    // The housekeeping of the control plane itself may remove what reports of long ago created at any time.
    const current = report({ deployment: 'tagged' });
    await send(current);
    await plane.ask('PUT', '/deployments/tagged', { body: { tags: { team: 'a' } } });
    await send({ ...current, isLeaving: true });
    now -= 86_401_000;
    await send(report({ deployment: 'gone' }));
    await send(report({ deployment: 'tagged' }));
    now = Date.now();
    expect(await read('tagged')).toMatchObject({ connection_status: 'unknown', instances: [] });
    await removeOldInstances(plane.control.services);
    expect((await plane.ask('GET', '/deployments/gone')).status).toBe(404);
    expect(await read('tagged')).toMatchObject({ connection_status: 'unknown', tags: { team: 'a' }, version: null });
  });

  it('are created, listed by filters, changed and archived, with an audit entry for each', async () => {
    const body = { name: 'Staging', slug: 'staging', type: 'non_production', tags: { team: 'b' }, is_default: true };
    const made = await expectChange(plane, () => plane.ask('POST', '/deployments', { body }), trace('create'));
    expect(made.body).toEqual({
      ...{ id: expect.any(String), slug: 'staging', organisation_id: plane.organisationId },
      ...{ client_auth: null, credentials: null, object: 'deployment' },
    });
    expect(await read('staging')).toMatchObject({ connection_status: 'unknown', is_default: 1, created_by: expect.any(String) });
    expect(await read('eu')).toMatchObject({ is_default: 0 });
    const slugs = async (query: string) =>
      (await plane.ask('GET', `/deployments?${query}`)).body.data.map(({ slug }: { slug: string }) => slug);
    expect(await slugs('type=non_production')).toEqual(['staging']);
    expect(await slugs('search=STAG')).toEqual(['staging']);
    expect(await slugs(`tags=${encodeURIComponent('{"team":"b"}')}`)).toEqual(['staging']);
    expect(await slugs(`workspace_slug=${plane.workspaceId}&type=non_production`)).toEqual(['staging']);
    const tags = { tags: { team: 'c' }, is_default: true };
    const tag = made.headers.get('etag') ?? '';
    const put = () => plane.ask('PUT', `/deployments/${made.body.id}`, { body: tags, headers: { 'if-match': tag } });
    await expectChange(plane, put, trace('update'));
    expect(await read('staging')).toMatchObject({ tags: { team: 'c' }, name: 'Staging', is_default: 1 });
    expect((await put()).status).toBe(412);
    await send(report({ deployment: 'staging' }));
    await expectChange(plane, () => plane.ask('DELETE', '/deployments/staging'), trace('delete'));
    expect(await slugs('status=archived')).toEqual(['staging']);
    expect(await slugs('type=non_production')).toEqual([]);
    expect(await read('staging')).toMatchObject({ status: 'archived', instances: [] });
    await send(report({ deployment: 'staging' }));
    expect(await read('staging')).toMatchObject({ status: 'active', connection_status: 'healthy', tags: { team: 'c' } });
  });

  it('/ready and the metrics of the control plane count gateways by state', async () => {
    const em = plane.control.services.database.em();
    await em.execute(`delete from deployment_instances`);
    for (const version of ['1.2.3', '1.2.4', '1.2.4']) await send(report({ version }));
    await em.execute(`update deployment_instances set seen_at = now() - interval '91 seconds' where version = '1.2.3'`);
    now += 5_001;
    const ready = await fetch(`${plane.url}/ready`);
    expect(await ready.json()).toMatchObject({ status: 'success', gateways: { healthy: 2, unhealthy: 1 } });
    const lines = (await (await fetch(`${plane.url}/metrics`)).text()).split('\n');
    const of = (labels: string) => lines.find((line) => line.startsWith('svc_gateway_instances') && line.includes(labels));
    expect(of('version="1.2.3",state="unhealthy"')).toMatch(/ 1$/);
    expect(of('version="1.2.4",state="healthy"')).toMatch(/ 2$/);
  });

  it.each([
    ['a slug that is taken', 'POST', '', { name: 'eu', slug: 'eu' }, 409, 'AB07', 'slug: '],
    ['no name', 'POST', '', {}, 400, 'AB01', 'name: '],
    [
      'settings of gateways',
      'POST',
      '',
      { name: 'x', auth_settings: { disable_svc_gateway: true } },
      400,
      'AB01',
      'auth_settings: ',
    ],
    ['another slug', 'PUT', '/eu', { slug: 'us' }, 400, 'AB01', 'slug: '],
    ['a new client token', 'PUT', '/eu', { rotate_auth: true }, 400, 'AB01', 'rotate_auth: '],
    ['an unknown status', 'PUT', '/eu', { status: 'away' }, 400, 'AB01', 'status: '],
  ] as const)('rejects %s', async (_, method, item, body, status, code, message) => {
    const request = () => plane.ask(method, `/deployments${item}`, { body });
    const { body: reply } = await expectRefusal(plane, request, status, code, true);
    expect(JSON.stringify(reply)).toContain(message);
  });

  it.each([
    ['no id', { id: undefined }],
    ['a deployment with a space', { deployment: 'a b' }],
    ['a control character in a tag', { tags: { a: '\u0000' } }],
    ['a further field', { secret: 'x' }],
  ])('rejects a report with %s', async (_, changes) => {
    expect(await send(report(changes))).toBe(400);
  });

  it('need their scopes, and an organisation key', async () => {
    const scopes = ['plugins.list'];
    const keys = [await plane.newKey(scopes, 'organisation/service'), plane.workspaceKey];
    for (const key of keys) {
      for (const { method, path, body } of probes('eu')) {
        await expectRefusal(plane, () => plane.ask(method, path, { key, body }), 403, 'AB03', method !== 'GET');
      }
    }
    for (const { method, path, body } of probes('eu')) {
      await expectRefusal(plane, () => plane.ask(method, path, { key: null, body }), 401, 'AB05', false);
    }
    expect((await plane.internal('POST', '/instances', report(), plane.adminKey)).status).toBe(401);
  });

  it('are hidden from other organisations', async () => {
    const { adminKey } = await plane.newTenant();
    const { id } = await read('eu');
    for (const { method, path, body } of [...probes('eu'), ...probes(id)].filter((one) => one.path !== '/deployments')) {
      await expectRefusal(plane, () => plane.ask(method, path, { key: adminKey, body }), 404, 'AB08', method !== 'GET');
    }
    expect((await plane.ask('GET', '/deployments', { key: adminKey })).body).toEqual({ object: 'list', total: 0, data: [] });
  });
});
