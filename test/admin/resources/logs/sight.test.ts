import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { newPerson, type Person } from '../../support/people.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('log visibility, on %s', (database) => {
  let plane: Plane;
  let owner: Person;
  let admin: Person;
  let manager: Person;
  let member: Person;
  let memberKey: string;
  let own: string;
  let ownTrace: string;
  let ofService: string;
  beforeAll(async () => {
    plane = await startPlane(database, { LOG_BODIES: 'database', HEADERS_TO_METADATA: 'X-Tenant' });
    owner = await newPerson(plane, 'owner');
    admin = await newPerson(plane, 'admin');
    manager = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'manager' }]);
    member = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'member' }]);
    const key = await plane.ask('POST', '/api-keys/workspace/user', {
      body: { name: 'K', scopes: ['completions.write', 'logs.list'], user_id: member.id, workspace_id: plane.workspaceId },
    });
    memberKey = key.body.key;
    const tenant = { organisationId: plane.organisationId, workspaceId: plane.workspaceId, metadata: { team: 'a' } };
    const records = [sampleRecord({ ...tenant, apiKeyId: key.body.id, userId: member.id }), sampleRecord(tenant)];
    [own = '', ofService = ''] = records.map((record) => record.id);
    [ownTrace = ''] = records.map((record) => record.traceId);
    expect((await plane.internal('POST', '/records', records)).body).toMatchObject({ inserted: 2 });
  });
  afterAll(() => plane?.close());

  const set = async (security_settings: Record<string, boolean>) =>
    expect((await plane.ask('PUT', '/organisations/self', { body: { security_settings } })).status).toBe(200);

  /** Returns the ids in this user's list, in any order, or the status if the list is rejected. */
  async function seen(key: string): Promise<string[] | number> {
    const reply = await plane.ask('GET', '/logs', { key });
    return reply.status === 200 ? reply.body.data.map((one: { _id: string }) => one._id).sort() : reply.status;
  }

  it('includes everyone by default', async () => {
    for (const key of [plane.adminKey, plane.workspaceKey, owner.token, admin.token, manager.token, member.token, memberKey]) {
      expect(await seen(key)).toEqual([own, ofService].sort());
    }
  });

  it('a key that may only call models reads a log by its id, and no list', async () => {
    for (const scope of ['completions.write', 'logs.write']) {
      const key = await plane.newKey([scope]);
      expect((await plane.ask('GET', `/logs/${own}`, { key })).status).toBe(200);
      for (const query of ['', '?search=private', '?page_size=1'])
        expect((await plane.ask('GET', `/logs${query}`, { key })).status).toBe(403);
    }
  });

  it('can be limited to records of own keys', async () => {
    await set({ membersViewAllData: false });
    for (const key of [member.token, memberKey]) {
      expect(await seen(key)).toEqual([own]);
      expect((await plane.ask('GET', `/logs/${own}`, { key })).status).toBe(200);
      expect((await plane.ask('GET', `/logs/${ofService}`, { key })).status).toBe(404);
    }
    for (const key of [manager.token, plane.workspaceKey]) expect(await seen(key)).toHaveLength(2);
    await set({ membersViewAllData: true, managersViewAllData: false });
    expect(await seen(manager.token)).toEqual([]);
    await set({ managersViewAllData: true });
  });

  it('can be limited to owners and service keys, even for users with sufficient scopes', async () => {
    await set({ membersViewLogs: false, managersViewLogs: false, organisationAdminsViewLogs: false });
    for (const key of [admin.token, manager.token, member.token, memberKey]) {
      expect(await seen(key)).toBe(403);
      expect((await plane.ask('GET', `/logs/${own}`, { key })).status).toBe(403);
    }
    for (const key of [owner.token, plane.adminKey, plane.workspaceKey]) expect(await seen(key)).toHaveLength(2);
    await set({ membersViewLogs: true, managersViewLogs: true, organisationAdminsViewLogs: true });
  });

  it('can exclude the metadata', async () => {
    await set({ membersViewLogMetadata: false });
    const metadataFor = async (key: string) => (await plane.ask('GET', `/logs/${own}`, { key })).body.metrics['metadata.value'];
    expect(await metadataFor(member.token)).toEqual([]);
    expect(await metadataFor(manager.token)).toEqual(['a']);
    const feedback = { trace_id: ownTrace, value: 1, metadata: { team: 'a' } };
    expect((await plane.ask('POST', '/feedback', { body: feedback, key: plane.workspaceKey })).status).toBe(200);
    const ofFeedback = async (key: string) => (await plane.ask('GET', `/logs/${own}`, { key })).body.feedbacks[0].metadata;
    expect([await ofFeedback(member.token), await ofFeedback(manager.token)]).toEqual([{}, { team: 'a' }]);
  });

  it('can exclude the headers that carry the metadata', async () => {
    const { created_at: createdAt } = (await plane.ask('GET', `/logs/${own}`)).body;
    const headers = { 'x-svc-metadata': '{"team":"a"}', baggage: 'team=a', 'x-tenant': 'a', 'user-agent': 'curl' };
    const exchanged = { body: null, omitted: null };
    const content = {
      ...{ id: own, createdAt, organisationId: plane.organisationId, workspaceId: plane.workspaceId },
      ...{ request: { headers, body: {}, omitted: null }, response: { headers: {}, body: {}, omitted: null } },
      exchange: {
        params: exchanged,
        request: { url: 'http://p', method: 'POST', headers: { baggage: 'team=a', accept: '*/*' }, ...exchanged },
        response: null,
      },
    };
    expect(await plane.internal('POST', '/record-contents', [content])).toMatchObject({ status: 200 });
    const headersFor = async (key: string) => {
      const { request, transformedRequest } = (await plane.ask('GET', `/logs/${own}`, { key })).body;
      return [request.headers, transformedRequest.headers];
    };
    expect(await headersFor(manager.token)).toEqual([headers, content.exchange.request.headers]);
    expect(await headersFor(member.token)).toEqual([{ 'user-agent': 'curl' }, { accept: '*/*' }]);
  });

  it('can differ in one workspace, also in a list of all', async () => {
    const second = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Second' } })).body;
    const there = sampleRecord({ organisationId: plane.organisationId, workspaceId: second.id });
    await plane.internal('POST', '/records', [there]);
    expect(await seen(admin.token)).toHaveLength(3);
    await plane.ask('PUT', '/organisations/self', { body: { override_settings: { logs: true } } });
    const body = { security_settings: { organisationAdminsViewLogs: false } };
    expect((await plane.ask('PUT', `/workspaces/${second.id}`, { body })).status).toBe(200);
    expect(await seen(admin.token)).toEqual([own, ofService].sort());
    expect((await plane.ask('GET', `/logs?workspace_id=${second.id}`, { key: admin.token })).status).toBe(403);
    expect(await seen(owner.token)).toHaveLength(3);
    const settings = { organisationAdminsViewLogs: true, organisationAdminsViewLogMetadata: false };
    await plane.ask('PUT', `/workspaces/${second.id}`, { body: { security_settings: settings } });
    const metadataIn = async (query: string) =>
      (await plane.ask('GET', `/logs/${own}${query}`, { key: admin.token })).body.metrics['metadata.value'];
    expect(await metadataIn(`?workspace_id=${plane.workspaceId}`)).toEqual(['a']);
    expect(await metadataIn('')).toEqual([]);
  });
});
