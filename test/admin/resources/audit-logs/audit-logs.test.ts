import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { maskSecrets } from '../../../../admin/audit/mask-secrets.ts';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('the audit log, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const always = 'start_time=2020-01-01T00:00:00Z&end_time=2099-01-01T00:00:00Z';
  const read = async (filters = '') => (await plane.ask('GET', `/audit-logs?${always}${filters}`)).body;

  it('lists actor, action, resource, address and outcome, newest first', async () => {
    const made = await plane.ask('POST', '/configs?workspace_id=ws-default', {
      body: { name: 'A', slug: 'a', config: { provider: '@mock' } },
    });
    await plane.ask('DELETE', '/configs/none', { key: plane.workspaceKey });
    const { records, total, object } = await read();
    expect({ total, object }).toEqual({ total: 3, object: 'analytics-graph' });
    expect(records[0]).toMatchObject({
      method: 'DELETE',
      uri: '/v1/configs/none',
      response_status_code: 404,
      error_code: 'AB08',
      resource_type: 'configs',
      action: 'delete',
    });
    expect(records[1]).toMatchObject({
      method: 'POST',
      uri: '/v1/configs',
      request_id: made.headers.get('x-svc-request-id'),
      request_body: JSON.stringify({ name: 'A', slug: 'a', config: { provider: '@mock' } }),
      query_params: JSON.stringify({ workspace_id: 'ws-default' }),
      user_type: 'api_key',
      organisation_id: plane.organisationId,
      workspace_id: plane.workspaceId,
      response_status_code: 200,
      resource_id: made.body.data.id,
      client_ip: expect.stringMatching(/127\.0\.0\.1$/),
    });
    expect(records[2]).toMatchObject({ user_type: 'system', resource_type: 'organisations', action: 'create' });
  });

  it('filters', async () => {
    expect((await read('&method=DELETE')).total).toBe(1);
    expect((await read('&response_status_code=200&resource_type=configs&action=create')).total).toBe(1);
    expect((await read('&workspace_id=ws-default')).total).toBe(2);
    expect((await read('&client_ip=203.0.113.1')).total).toBe(0);
    expect((await read('&page_size=1&current_page=1')).records[0].method).toBe('POST');
    expect(await read('&page_size=0')).toEqual(await read('&page_size=100'));
    const past = await plane.ask('GET', '/audit-logs?start_time=2020-01-01T00:00:00Z&end_time=2020-01-02T00:00:00Z');
    expect(past.body.total).toBe(0);
  });

  it('accepts any time format, also with an offset as browsers send it', async () => {
    const total = async (start: string) =>
      (await plane.ask('GET', `/audit-logs?start_time=${start}&end_time=9999-12-31T23:59:59Z`)).body;
    expect((await total('2020-01-01T02:00:00+02:00')).total).toBeGreaterThan(0);
    expect((await total('2020-01-01T02:00:00%2B02:00')).total).toBeGreaterThan(0);
    expect((await total('2020-01-01')).total).toBeGreaterThan(0);
    expect((await total('1969-12-31')).data.message).toBe('start_time: must not be before 1970');
    expect((await total('2020-02-31T00:00:00Z')).data.message).toBe('start_time: this date does not exist');
    expect((await total('2020-01-01 T00:00:00Z')).data.message).toContain('start_time: an ISO 8601 time');
  });

  it('filters by request, user, uri, type and country', async () => {
    const one = (await read('&resource_type=configs&action=create')).records[0];
    for (const filter of [`request_id=${one.request_id}`, `user_id=${one.user_id}&method=POST`, 'uri=/v1/configs']) {
      expect((await read(`&${filter}`)).records.map((record: { id: string }) => record.id)).toEqual([one.id]);
    }
    expect((await read('&user_type=system')).total).toBe(1);
    expect((await read('&country=AT')).total).toBe(0);
    expect(JSON.parse(one.request_headers)).toMatchObject({ 'content-type': 'application/json' });
    expect(JSON.stringify(one)).not.toContain(plane.adminKey.slice(-20));
  });

  it('includes a deleted workspace', async () => {
    const { id, slug } = (await plane.ask('POST', '/workspaces', { body: { name: 'Gone' } })).body;
    const key = { name: 'K', scopes: ['configs.list'], workspace_id: id };
    expect((await plane.ask('POST', '/api-keys/workspace/service', { body: key })).status).toBe(200);
    const body = { name: 'Gone', force_delete: true };
    expect((await plane.ask('DELETE', `/workspaces/${id}`, { body })).status).toBe(200);
    for (const name of [id, slug]) {
      expect((await read(`&workspace_id=${name}`)).records).toMatchObject([
        { resource_type: 'workspaces', action: 'delete', workspace_id: id },
        { resource_type: 'api_keys', action: 'create', workspace_id: id },
        { resource_type: 'workspaces', action: 'create', workspace_id: id },
      ]);
    }
    await expectRefusal(plane, () => plane.ask('GET', `/api-keys?workspace_id=${id}`), 404, 'AB08', false);
    const refused = await expectRefusal(
      plane,
      () => plane.ask('GET', `/audit-logs?${always}&workspace_id=never`),
      404,
      'AB08',
      false,
    );
    expect(refused.body.data.message).toBe('Workspace not found; GET /v1/workspaces lists ids and slugs');
  });

  it('names the workspace of what was changed, also if the request names only an id', async () => {
    const workspace = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Audited' } })).body;
    const where = `workspace_id=${workspace.id}`;
    const limits = {
      type: 'requests',
      credit_limit: 5,
      conditions: [{ key: 'api_key', value: '*' }],
      group_by: [{ key: 'api_key' }],
    };
    const made = new Map<string, { readonly path: string; readonly id: string }>();
    for (const [resource, path, body] of [
      ['configs', '/configs', { config: {} }],
      ['api_keys', '/api-keys', { scopes: ['completions.write'] }],
      ['policies', '/policies/usage-limits', limits],
      ['prompt_collections', '/collections', {}],
      ['prompt_labels', '/labels', {}],
      ['webhooks', '/webhooks', { url: 'https://example.com/', events: ['budget.exhausted'] }],
    ] as const) {
      const create = resource === 'api_keys' ? '/api-keys/workspace/service' : path;
      const reply = await plane.ask('POST', `${create}?${where}`, { body: { name: 'Audited', ...body } });
      expect(reply.status, JSON.stringify(reply.body)).toBe(200);
      made.set(resource, { path, id: reply.body.data?.id ?? reply.body.id });
    }
    for (const [resource, { path, id }] of made) {
      expect((await plane.ask('PUT', `${path}/${id}`, { body: { name: 'Changed' } })).status).toBe(200);
      expect(await plane.lastAudit()).toMatchObject({ resourceType: resource, resourceId: id, workspaceId: workspace.id });
      expect((await plane.ask('DELETE', `${path}/${id}`)).status).toBe(200);
      expect(await plane.lastAudit()).toMatchObject({ resourceType: resource, resourceId: id, workspaceId: workspace.id });
    }
    for (const change of [
      () => plane.ask('PUT', `/admin/workspaces/${workspace.id}`, { body: { description: 'x' } }),
      () => plane.ask('DELETE', `/admin/workspaces/${workspace.id}`, { body: { name: 'Audited' } }),
    ]) {
      expect((await change()).status).toBe(200);
      expect((await plane.lastAudit()).workspaceId).toBe(workspace.id);
    }
    expect((await read(`&${where}`)).total).toBe(3 * made.size + 3);
  });

  it.each([
    ['end_time before start_time', 'start_time=2030-01-02T00:00:00Z&end_time=2030-01-01T00:00:00Z', 'end_time'],
    ['a country that is no code', `${always}&country=Austria`, 'country'],
    ['a method that no entry has', `${always}&method=HEAD`, 'method'],
    ['a status that is none', `${always}&response_status_code=ok`, 'response_status_code'],
    ['a page that is too long', `${always}&page_size=101`, 'page_size'],
    ['somebody else’s organisation', `${always}&organisation_id=7f9c2d1e-0000-4000-8000-000000000001`, null],
  ])('audit log: rejects %s', async (_what, query, field) => {
    const [status, code] = field === null ? [404, 'AB08'] : [400, 'AB01'];
    const reply = await expectRefusal(
      plane,
      () => plane.ask('GET', `/audit-logs?${query}`),
      status as number,
      code as string,
      false,
    );
    if (field !== null) expect(reply.body.data.message).toContain(field);
  });

  it('can be read as CSV that no spreadsheet executes', async () => {
    await plane.ask('POST', '/configs', { body: '{"name": 1}', headers: { 'user-agent': '=cmd()' } });
    await plane.ask('DELETE', '/configs/a%22,b?workspace_id=ws-default');
    const reply = await fetch(`${plane.url}/v1/audit-logs?${always}&page_size=10000`, {
      headers: { 'x-svc-api-key': plane.adminKey, accept: 'text/csv' },
    });
    expect(reply.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const total = Number(reply.headers.get('x-total-count'));
    const lines = (await reply.text()).split('\r\n');
    expect(lines).toHaveLength(total + 2);
    expect(lines[0]).toMatch(/^"id","timestamp","method","uri",/);
    expect(lines[1]).toContain('"DELETE","/v1/configs/a%22,b"');
    await expectRefusal(plane, () => plane.ask('GET', `/audit-logs?${always}&page_size=101`), 400, 'AB01', false);
  });

  it('is for organisation keys, of their own organisation only', async () => {
    await expectRefusal(plane, () => plane.ask('GET', `/audit-logs?${always}`, { key: plane.workspaceKey }), 403, 'AB03', false);
    await expectRefusal(plane, () => plane.ask('GET', '/audit-logs'), 400, 'AB01', false);
    const other = await plane.newTenant();
    const theirs = (await plane.ask('GET', `/audit-logs?${always}`, { key: other.adminKey })).body.records;
    expect(theirs.map((one: { organisation_id: string }) => one.organisation_id)).toEqual([other.organisationId]);
  });

  it('contains no key, in any field', async () => {
    const key = plane.workspaceKey;
    const secret = key.slice(-45);
    await plane.ask('DELETE', `/api-keys/${key}?token=planted-one&name=${key}`, { headers: { 'user-agent': `tool (${key})` } });
    await plane.ask('POST', '/workspaces', { body: { name: 'ok', description: `see ${key}`, tags: [{ note: key }] } });
    const { records } = await read('&page_size=2');
    expect(records.map((record: { response_status_code: number }) => record.response_status_code)).toEqual([400, 400]);
    expect(records[1]).toMatchObject({
      uri: expect.stringMatching(/^\/v1\/api-keys\/svc_ws_[0-9A-Za-z]{12}_\*{3}$/),
    });
    expect(JSON.parse(records[1].query_params)).toEqual({ token: '***', name: '***' });
    expect(JSON.parse(records[1].request_headers)).toMatchObject({
      'user-agent': expect.stringMatching(/^tool \(svc_ws_[0-9A-Za-z]{12}_\*{3}\)$/),
    });
    expect(JSON.parse(records[0].request_body)).toEqual({ name: '***', description: '***', tags: [{ note: '***' }] });
    for (const planted of [secret, 'planted-one']) expect(JSON.stringify(records)).not.toContain(planted);
  });

  it('contains no value of a body that was rejected before validation, under known and unknown names', async () => {
    const body = { name: 'a name', bogus: 'planted-two', config: { nested: ['planted-three', 42, null, { deep: true }] } };
    await plane.ask('POST', '/configs?odd=planted-four', { body });
    const [record] = (await read('&page_size=1')).records;
    expect(record).toMatchObject({ response_status_code: 400, query_params: JSON.stringify({ odd: '***' }) });
    expect(JSON.parse(record.request_body)).toEqual({
      name: '***',
      bogus: '***',
      config: { nested: ['***', '***', null, { deep: '***' }] },
    });
  });

  it('shows settings that only look like secrets', () => {
    expect(maskSecrets({ jwt: { max_token_ttl: 10 } })).toEqual({ jwt: { max_token_ttl: 10 } });
  });
});
