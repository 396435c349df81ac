import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { usableInterfaces } from '../../../admin/resources/agent-integrations/card-schema.ts';
import { agentIntegrations } from '../../../admin/resources/agent-integrations/entity.ts';
import { keyPurposes } from '../../../core/contract/protocol/credentials/key-purposes.ts';
import { deriveKey, unseal } from '../../../core/contract/values/credentials/secret.ts';
import { expectChange, expectRefusal } from '../support/outcomes.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

describe.each(ruleDatabases)('agent integrations and servers, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  let count = 0;
  const card = {
    ...{ name: 'Agent', url: 'https://agent.example.com/a2a/rpc', protocolVersion: '0.3.0', preferredTransport: 'JSONRPC' },
    additionalInterfaces: [
      { transport: 'HTTP+JSON', url: 'https://agent.example.com/a2a/rest' },
      { transport: 'JSONRPC', url: 'https://other.example.com/rpc' },
      { transport: 'GRPC', url: 'https://agent.example.com/a2a/grpc' },
    ],
    skills: [{ id: 'plan', name: 'Plan', tags: ['a'] }, { id: 'book' }, { name: 'without an id' }],
  };
  const fields = (more: object = {}) => ({
    ...{ name: 'Travel', slug: `travel-${++count}`, url: 'https://agent.example.com/a2a', auth_type: 'headers' },
    ...{ configurations: { headers: { Authorization: 'Bearer secret-of-the-agent' } }, agent_card: card },
    ...more,
  });
  const integrate = async (more: object = {}) => (await plane.ask('POST', '/agent-integrations', { body: fields(more) })).body;
  const share = (id: string, enabled = true) =>
    plane.ask('PUT', `/agent-integrations/${id}/workspaces`, { body: { workspaces: [{ id: plane.workspaceId, enabled }] } });
  const serve = (integration: string, more: object = {}) =>
    plane.ask('POST', '/agent-servers', {
      body: { name: 'Server', workspace_id: plane.workspaceId, agent_integration_id: integration, ...more },
    });
  const documentOf = async (slug: string) =>
    (await plane.internal('GET', `/documents/agent-server/${plane.workspaceId}%2F${slug}`)).body.document;

  it('an integration seals its headers, shows them masked and keeps masked values', async () => {
    const { id, slug, object } = await integrate();
    expect(object).toBe('agent-integration');
    const read = (await plane.ask('GET', `/agent-integrations/${slug}`)).body;
    expect(read).toMatchObject({ id, slug, type: 'organisation', auth_type: 'headers', agent_card: card });
    expect(read.configurations).toEqual({ custom_headers: { authorization: '****gent' } });
    const row = await plane.control.services.database.em().findOneOrFail(agentIntegrations, { id });
    expect(JSON.stringify(row)).not.toContain('secret-of-the-agent');
    const configurations = { headers: { ...read.configurations.custom_headers, 'x-team': 'a' }, forward_headers: ['x-trace'] };
    expect((await plane.ask('PUT', `/agent-integrations/${id}`, { body: { configurations, agent_card: null } })).body).toEqual(
      {},
    );
    expect((await plane.ask('GET', `/agent-integrations/${id}`)).body).toMatchObject({
      agent_card: null,
      configurations: { custom_headers: { authorization: '****gent', 'x-team': 'a' }, forward_headers: ['x-trace'] },
    });
    const move = () => plane.ask('PUT', `/agent-integrations/${id}`, { body: { url: 'https://new.example.com/' } });
    await expectRefusal(plane, move, 400, 'AB01', true);
  });

  it('servers show no credential in the URL of their integration', async () => {
    const { id } = await integrate({ url: 'https://agent.example.com/a2a?api_key=planted&team=a' });
    await share(id);
    const made = (await serve(id, { slug: 'keyed', name: 'Keyed' })).body;
    const shown = 'https://agent.example.com/a2a?api_key=***&team=a';
    expect((await plane.ask('GET', `/agent-servers/${made.id}`)).body).toMatchObject({
      agent_integration_details: { url: shown },
    });
    const listed = (await plane.ask('GET', `/agent-servers?id=${made.id}`)).body;
    expect(listed).toMatchObject({ data: [{ agent_integration_url: shown }] });
  });

  it('a server has the document that gateways load, while its workspace may use the integration', async () => {
    const { id } = await integrate();
    const early = await expectRefusal(plane, () => serve(id, { slug: 'early' }), 404, 'AB02', true);
    expect(early.body.data.message).toBe(
      'agent_integration_id: Agent integration not found in this workspace. Share one of the organisation with it first: PUT /v1/agent-integrations/{id}/workspaces',
    );
    await share(id);
    const made = await expectChange(plane, () => serve(id, { slug: 'travel' }), {
      ...{ resource: 'agent_servers', action: 'create', events: [`agent-server ${plane.workspaceId}/travel upsert`] },
    });
    const skills = (skill: string) => ({ body: { skills: [{ id: skill, enabled: false }] } });
    await plane.ask('PUT', `/agent-integrations/${id}/skills`, skills('plan'));
    await plane.ask('PUT', `/agent-servers/${made.body.id}/skills`, skills('book'));
    const document = await documentOf('travel');
    expect(document).toMatchObject({
      ...{ id: made.body.id, slug: 'travel', url: 'https://agent.example.com/a2a', authType: 'headers', card },
      interfaces: [
        { binding: 'JSONRPC', url: 'https://agent.example.com/a2a/rpc', version: '0.3' },
        { binding: 'HTTP+JSON', url: 'https://agent.example.com/a2a/rest', version: '0.3' },
      ],
      ...{ disabledSkills: ['plan', 'book'], access: { default: 'allow', exceptions: [] } },
    });
    const key = deriveKey(plane.settings.clusterKey, keyPurposes.transport);
    const opened = JSON.parse(unseal(key, document.headers, `agent-server/${document.id}`).toString());
    expect(opened).toEqual({ authorization: 'Bearer secret-of-the-agent' });
    const listed = (await plane.ask('GET', `/agent-servers/${made.body.id}/skills`)).body;
    expect(listed).toMatchObject({
      total: 2,
      data: [
        { id: 'plan', name: 'Plan', tags: ['a'], enabled: true, integration_enabled: false },
        { id: 'book', enabled: false, integration_enabled: true },
      ],
    });
    // Flags of skills that the stored card does not have are listed too.
    await plane.ask('PUT', `/agent-servers/${made.body.id}/skills`, skills('later'));
    const all = (await plane.ask('GET', `/agent-servers/${made.body.id}/skills`)).body;
    expect(all.data.slice(2)).toMatchObject([{ id: 'later', name: null, enabled: false, integration_enabled: true }]);
    expect((await plane.ask('GET', `/agent-integrations/${id}/skills`)).body.total).toBe(2);
    expect((await plane.ask('GET', `/agent-servers/${made.body.id}/agent-card`)).body).toEqual(card);
    const detail = (await plane.ask('GET', `/agent-servers/${made.body.id}`)).body;
    expect(detail).toMatchObject({ slug: 'travel', agent_integration_details: { id, configurations: {} } });
    expect(detail.url).toMatch(/\/v1\/agent\/travel$/);
    expect((await plane.ask('GET', '/agent-servers?search=serv')).body).toMatchObject({
      total: 1,
      data: [{ workspace_slug: 'ws-default', agent_integration_id: id }],
    });
    const users = (await plane.ask('GET', `/agent-servers/${made.body.id}/user-access`)).body;
    expect(users).toMatchObject({ object: 'list', default_user_access: 'allow', has_more: false });
    const statuses = async () => {
      const detail = (await plane.ask('GET', `/agent-servers/${document.id}`)).body;
      return [detail.status, (await plane.ask('GET', `/agent-servers?id=${document.id}`)).body.data[0].status];
    };
    await share(id, false);
    expect(await documentOf('travel')).toBeNull();
    expect(await statuses()).toEqual(['archived', 'archived']);
    await share(id);
    expect(await statuses()).toEqual(['active', 'active']);
    await expectChange(plane, () => plane.ask('DELETE', `/agent-integrations/${id}`), {
      ...{ resource: 'agent_integrations', action: 'delete', events: [`agent-server ${plane.workspaceId}/travel delete`] },
    });
    expect(await documentOf('travel')).toBeNull();
  });

  it('an interface of the card is used only on the host of the URL, below it or if the card lists the URL', async () => {
    const { id } = await integrate({ url: 'https://agent.example.com/elsewhere' });
    await share(id);
    await serve(id, { slug: 'elsewhere' });
    expect((await documentOf('elsewhere')).interfaces).toEqual([]);
    await plane.ask('PUT', `/agent-integrations/${id}`, { body: { url: 'https://agent.example.com/a2a/rpc' } });
    expect((await documentOf('elsewhere')).interfaces).toHaveLength(2);
  });

  it.each([
    ['https://agent.example.com/a/b', 1],
    ['https://agent.example.com/a/../admin', 0],
    ['https://agent.example.com/a/%2E%2e/admin', 0],
    ['https://agent.example.com/a/..\\admin', 0],
    ['https://agent.example.com/ab', 0],
    ['https://agent.example.com.evil.example/a/b', 0],
  ])('the interface %s of a card for https://agent.example.com/a counts %d times', (address, count) => {
    expect(usableInterfaces('https://agent.example.com/a', { name: 'x', url: address })).toHaveLength(count);
  });

  it.each([
    ['url', { url: 'http://10.0.0.1/' }],
    ['url', { url: 'https://agent.example.com/#top' }],
    ['auth_type', { auth_type: 'oauth_auto' }],
    ['configurations.headers', { configurations: {} }],
    ['configurations.headers', { configurations: { headers: { 'a2a-version': '1.0' } } }],
    ['configurations.forward_headers', { configurations: { forward_headers: ['cookie'] } }],
    ['agent_card', { agent_card: { url: 'https://agent.example.com' } }],
    ['agent_card', { agent_card: { name: 'No address' } }],
    ['agent_card', { agent_card: { ...card, description: 'x'.repeat(1_000_000) } }],
  ])('an integration names the field %s of a bad value', async (field, more) => {
    const create = () => plane.ask('POST', '/agent-integrations', { body: fields(more) });
    const reply = await expectRefusal(plane, create, 400, 'AB01', true);
    expect(reply.body.data.message).toContain(field);
  });
});
