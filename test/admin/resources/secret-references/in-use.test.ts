import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyPurposes } from '../../../../core/contract/protocol/credentials/key-purposes.ts';
import { type ProviderDocument, providerDocument } from '../../../../core/contract/protocol/documents.ts';
import { deriveKey, unseal } from '../../../../core/contract/values/credentials/secret.ts';
import { until } from '../../../support/until.ts';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';
import { vaultReference } from './probes.ts';

describe.each(ruleDatabases)('secret references in use, on %s', (database) => {
  let plane: Plane;
  let second: string;
  let vaultId: string;
  /** The part of a gateway that connection tests need. */
  let gateway: Server;
  const tried: ProviderDocument[] = [];
  beforeAll(async () => {
    gateway = createServer(async (request, reply) => {
      let text = '';
      for await (const part of request) text += part;
      tried.push(v.parse(providerDocument, JSON.parse(text).document));
      reply.end(JSON.stringify({ ok: true, checks: [] }));
    });
    await once(gateway.listen(0, '127.0.0.1'), 'listening');
    plane = await startPlane(database, { GATEWAY_URL: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}` });
    second = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Second', slug: 'second' } })).body.id;
    vaultId = (await plane.ask('POST', '/secret-references', { body: { ...vaultReference, slug: 'vault' } })).body.id;
    await plane.ask('POST', '/integrations', {
      body: { name: 'Org', slug: 'org', ai_provider_id: 'openai', secret_mappings: mapped },
    });
    const workspaces = [plane.workspaceId, second].map((id) => ({ id, enabled: true }));
    await plane.ask('PUT', '/integrations/org/workspaces', { body: { workspaces } });
    const own = { name: 'Own', slug: 'own', provider: 'openai', workspace_id: second, secret_mappings: mapped };
    await plane.ask('POST', '/virtual-keys', { body: own });
  });
  afterAll(async () => {
    gateway?.close();
    await plane?.close();
  });

  const mapped = [{ target_field: 'key', secret_reference_id: 'vault' }];
  const put = (body: object) => plane.ask('PUT', '/secret-references/vault', { body });
  const document = async (workspaceId: string, slug: string): Promise<ProviderDocument | null> =>
    (await plane.internal('GET', `/documents/provider/${workspaceId}%2F${slug}`)).body.document;
  const models = async (workspaceId: string) => {
    const { body } = await plane.internal('GET', `/documents/workspace-models/${workspaceId}`);
    return body.document.providers.map((one: { slug: string }) => one.slug);
  };
  const opened = (sealed: string | null, id = vaultId) => {
    const key = deriveKey(plane.settings.clusterKey, keyPurposes.transport);
    return JSON.parse(unseal(key, sealed ?? '', `secret-reference/${id}`).toString('utf8'));
  };
  const events = () => [`${plane.workspaceId}/org`, `${second}/org`, `${second}/own`].map((name) => `provider ${name} upsert`);

  it('are sent to gateways with a sealed credential, and nothing plain', async () => {
    const found = v.parse(providerDocument, await document(plane.workspaceId, 'org'));
    const [one] = found.mappedSecrets ?? [];
    expect(found.mappedSecrets).toEqual([
      {
        target: 'key',
        field: 'api_key',
        isSecret: true,
        format: 'string',
        id: vaultId,
        slug: 'vault',
        revision: 1,
        managerType: 'hashicorp_vault',
        path: 'secret/data/openai',
        key: null,
        auth: { vault_auth_type: 'token', vault_addr: 'https://vault.example.com' },
        authSecrets: expect.any(String),
      },
    ]);
    expect(found.secrets).toBeNull();
    expect(JSON.stringify(found)).not.toContain('planted');
    expect(opened(one?.authSecrets ?? null)).toEqual({ vault_token: vaultReference.auth_config.vault_token });
    expect(() => opened(one?.authSecrets ?? null, second)).toThrow();
    expect((await document(plane.workspaceId, 'mock'))?.mappedSecrets).toEqual([]);
  });

  it('announce every provider that reads from them, in all workspaces, when they change', async () => {
    const change = { secret_path: 'secret/data/other', secret_key: 'b', auth_config: { vault_token: 'hvs.other' } };
    const before = plane.notices.length;
    await expectChange(plane, () => put(change), { resource: 'secret_references', action: 'update', events: events() });
    await until(() => plane.notices.length === before + 3, { what: 'three notices' });
    const [one] = (await document(second, 'own'))?.mappedSecrets ?? [];
    expect(one).toMatchObject({ path: 'secret/data/other', key: 'b', revision: 2 });
    expect(opened(one?.authSecrets ?? null)).toEqual({ vault_token: 'hvs.other' });
  });

  it('let a mapping override the key and format of the value', async () => {
    const target_field = 'configurations.openai_project';
    const sent = [...mapped, { target_field, secret_reference_id: vaultId, secret_key: 'c', value_format: 'json' }];
    expect((await plane.ask('PUT', '/integrations/org', { body: { secret_mappings: sent } })).status).toBe(200);
    expect((await document(second, 'org'))?.mappedSecrets).toMatchObject([
      { field: 'api_key', key: 'b', format: 'string', isSecret: true },
      { target: target_field, field: 'openai_project', key: 'c', format: 'json', isSecret: false },
    ]);
    await plane.ask('PUT', '/integrations/org', { body: { secret_mappings: mapped } });
  });

  it('cannot be deleted, and the error lists their users to callers who may see them', async () => {
    const remove = (key?: string) => plane.ask('DELETE', '/secret-references/vault', key ? { key } : {});
    const reply = await expectRefusal(plane, () => remove(), 400, 'AB01', true);
    expect(reply.body.data.message).toMatch(/is used by 2 integrations or virtual keys: org, own-\w+\. Change them first$/);
    const key = await plane.newKey(['secret_references.delete'], 'organisation/service');
    const other = await expectRefusal(plane, () => remove(key), 400, 'AB01', true);
    expect(other.body.data.message).toMatch(/is used by 2 integrations or virtual keys\. Change them first$/);
  });

  it('disable the providers of a workspace that loses access, until it is restored', async () => {
    const take = () => put({ allowed_workspaces: [plane.workspaceId] });
    await expectChange(plane, take, { resource: 'secret_references', action: 'update', events: events() });
    expect(await document(second, 'org')).toBeNull();
    expect(await document(second, 'own')).toBeNull();
    expect(await models(second)).toEqual([]);
    expect((await document(plane.workspaceId, 'org'))?.mappedSecrets).toHaveLength(1);
    expect(await models(plane.workspaceId)).toEqual(['mock', 'org']);
    const slug = (await plane.ask('GET', `/virtual-keys/own?workspace_id=${second}`)).body.integration_id;
    const test = await plane.ask('POST', `/integrations/${slug}/test`, { body: {} });
    expect(test.body).toMatchObject({
      ok: false,
      checks: [{ field: 'secret_mappings[0].secret_reference_id', status: 'failed' }],
    });
    await put({ allow_all_workspaces: true });
    expect((await document(second, 'own'))?.mappedSecrets).toHaveLength(1);
  });

  it('are used in tests of an account, saved or not', async () => {
    tried.length = 0;
    expect((await plane.ask('POST', '/integrations/org/test', { body: {} })).status).toBe(200);
    const body = { ai_provider_id: 'openai', secret_mappings: mapped, configurations: { openai_project: 'p' } };
    expect((await plane.ask('POST', '/integrations/test', { body })).status).toBe(200);
    for (const one of tried) {
      expect(one).toMatchObject({ provider: 'openai', secrets: null, mappedSecrets: [{ field: 'api_key', slug: 'vault' }] });
      expect(opened(one.mappedSecrets?.[0]?.authSecrets ?? null)).toEqual({ vault_token: 'hvs.other' });
    }
    expect(tried).toHaveLength(2);
    const both = () => plane.ask('POST', '/integrations/test', { body: { ...body, key: 'sk-x' } });
    await expectRefusal(plane, both, 400, 'AB01', true);
    const limited = { ...vaultReference, slug: 'limited', allowed_workspaces: ['second'] };
    await plane.ask('POST', '/secret-references', { body: limited });
    const foreign = {
      ...body,
      workspace_id: plane.workspaceId,
      secret_mappings: [{ ...mapped[0], secret_reference_id: 'limited' }],
    };
    await expectRefusal(plane, () => plane.ask('POST', '/integrations/test', { body: foreign }), 404, 'AB02', true);
  });

  it('can be deleted when nothing uses them: archived integrations and deleted virtual keys do not count', async () => {
    await plane.ask('DELETE', '/integrations/org');
    await expectRefusal(plane, () => plane.ask('DELETE', '/secret-references/vault'), 400, 'AB01', true);
    await plane.ask('DELETE', `/virtual-keys/own?workspace_id=${second}`);
    const remove = () => plane.ask('DELETE', '/secret-references/vault');
    await expectChange(plane, remove, { resource: 'secret_references', action: 'delete', events: [] });
  });

  it('are never dangling after a concurrent deletion and mapping', async () => {
    for (let n = 0; n < 8; n++) {
      const { id } = (await plane.ask('POST', '/secret-references', { body: vaultReference })).body;
      const secret_mappings = [{ target_field: 'key', secret_reference_id: id }];
      const [made, removed] = await Promise.all([
        plane.ask('POST', '/integrations', { body: { name: 'I', ai_provider_id: 'openai', secret_mappings } }),
        plane.ask('DELETE', `/secret-references/${id}`),
      ]);
      expect([
        [200, 400],
        [404, 200],
      ]).toContainEqual([made.status, removed.status]);
    }
  });
});
