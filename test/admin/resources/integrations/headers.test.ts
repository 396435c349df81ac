import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { integrations } from '../../../../admin/resources/integrations/entity.ts';
import { openHeaders } from '../../../../admin/resources/integrations/headers.ts';
import { integrationModels } from '../../../../admin/resources/integrations/models/model-entity.ts';
import { headerOpener } from '../../../../core/compose/open-sealed.ts';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const planted = 'planted-header-0123456789';
const sent = { 'CF-Access-Client-Secret': planted, 'x-team': 'a' };
const shown = { 'cf-access-client-secret': '****6789', 'x-team': 'a' };
const stored = { 'cf-access-client-secret': planted, 'x-team': 'a' };
const host = 'https://llm.example.com/v1';

describe.each(ruleDatabases)('headers of integrations, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const em = () => plane.control.services.database.em();
  const rowOf = (slug: string) => em().findOneOrFail(integrations, { slug });
  const headersOf = async (slug: string) => openHeaders(em(), plane.control.services.vault, await rowOf(slug));
  const read = async (path: string) => (await plane.ask('GET', path)).body;
  const shownOf = async (slug: string) => (await read(`/integrations/${slug}`)).configurations.custom_headers;
  const put = (slug: string, body: object) => () => plane.ask('PUT', `/integrations/${slug}`, { body });
  const changed = async (slug: string, body: object) => {
    const reply = await put(slug, body)();
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  };
  const document = async (slug: string) => plane.internal('GET', `/documents/provider/${plane.workspaceId}%2F${slug}`);
  /** The headers that gateways load for the provider with this slug, opened as gateways open them. */
  const given = async (slug: string) => headerOpener(plane.settings.clusterKey)((await document(slug)).body.document);
  /** An integration of the workspace with its provider, without a key unless `more` has one. */
  const make = async (slug: string, custom_headers: object | undefined, more: object = {}) => {
    const configurations = { custom_host: host, custom_headers };
    const body = { name: slug, slug, ai_provider_id: 'openai', workspace_id: plane.workspaceId, configurations, ...more };
    const reply = await plane.ask('POST', '/integrations', { body });
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  };
  /** As stored by versions that kept headers among the settings. */
  const asOlder = async (slug: string, custom_headers: object) => {
    const { configurations } = await rowOf(slug);
    await em().nativeUpdate(integrations, { slug }, { configurations: { ...configurations, custom_headers } });
  };

  it('are sealed in storage and for gateways, and masked in replies', async () => {
    await make('sealed', sent);
    expect(await shownOf('sealed')).toEqual(shown);
    for (const path of ['/providers/sealed', '/virtual-keys/sealed']) {
      expect((await read(path)).model_config).toEqual({ custom_host: host, custom_headers: shown });
    }
    expect(await headersOf('sealed')).toEqual(stored);
    expect(await given('sealed')).toEqual(stored);
    expect((await document('sealed')).body.document.customHeaders).toEqual({});
    const lists = [
      '/integrations',
      '/providers',
      '/virtual-keys',
      '/audit-logs?start_time=2020-01-01T00:00:00Z&end_time=2099-01-01T00:00:00Z',
    ];
    for (const path of lists) expect((await read(path)).total, path).toBeGreaterThan(0);
    const seen = [await rowOf('sealed'), await document('sealed'), plane.log.lines, await plane.events()];
    for (const one of [...seen, ...(await Promise.all(lists.map(read))), await plane.lastAudit()]) {
      expect(JSON.stringify(one)).not.toContain('planted');
    }
  });

  it('stay if they are omitted or sent back masked; others replace them, null clears them', async () => {
    await make('changed', sent);
    await changed('changed', { name: 'Other' });
    expect(await headersOf('changed')).toEqual(stored);
    await changed('changed', { configurations: await read('/integrations/changed').then((one) => one.configurations) });
    expect(await headersOf('changed')).toEqual(stored);
    await changed('changed', { configurations: { custom_headers: { 'CF-Access-Client-Secret': '****6789', 'x-more': 'b' } } });
    expect(await given('changed')).toEqual({ 'cf-access-client-secret': planted, 'x-more': 'b' });
    await changed('changed', { configurations: { custom_headers: null } });
    expect(await shownOf('changed')).toBeUndefined();
    expect((await document('changed')).body.document.headers).toBeNull();
    expect(await rowOf('changed')).toMatchObject({ customHeaders: null, headerNames: {} });
  });

  it('move to another host only if credential headers are sent again', async () => {
    await make('moved', sent);
    const custom_host = 'https://elsewhere.example.com/v1';
    for (const custom_headers of [undefined, shown, { 'cf-access-client-secret': '****' }]) {
      const request = put('moved', { configurations: { custom_host, ...(custom_headers && { custom_headers }) } });
      const refused = await expectRefusal(plane, request, 400, 'AB01', true);
      expect(refused.body.data.message).toBe(
        'configurations.custom_host: a new host requires the credential again. Send it in configurations.custom_headers.cf-access-client-secret',
      );
    }
    const asProvider = () => plane.ask('PUT', '/providers/moved', { body: { customHost: custom_host, customHeaders: shown } });
    const refused = await expectRefusal(plane, asProvider, 400, 'AB01', true);
    expect(refused.body.data.message).toContain('customHeaders.cf-access-client-secret');
    expect(await headersOf('moved')).toEqual(stored);
    await changed('moved', { configurations: { custom_host, custom_headers: { ...sent, 'x-team': '****' } } });
    expect(await given('moved')).toEqual(stored);
    // Headers without a credential may move to another host, and so may all headers once the credential is removed.
    await changed('moved', { configurations: { custom_host: host, custom_headers: { 'x-team': 'a' } } });
    await changed('moved', { configurations: { custom_host } });
  });

  it('stored plain by an older version are used and masked, and sealed by the next change', async () => {
    await make('older', undefined);
    await asOlder('older', sent);
    expect(await shownOf('older')).toEqual(shown);
    expect((await read('/providers/older')).model_config.custom_headers).toEqual(shown);
    expect(await given('older')).toEqual(stored);
    expect(JSON.stringify(await document('older'))).not.toContain('planted');
    const move = put('older', { configurations: { custom_host: 'https://elsewhere.example.com/v1' } });
    await expectRefusal(plane, move, 400, 'AB01', true);
    await changed('older', { name: 'Sealed' });
    expect(JSON.stringify(await rowOf('older'))).not.toContain('planted');
    expect(await given('older')).toEqual(stored);
    // An older version that runs at the same time changes them again. The later change wins.
    await asOlder('older', { 'X-Token': 'planted-by-older-0123' });
    expect(await given('older')).toEqual({ 'x-token': 'planted-by-older-0123' });
    await changed('older', { configurations: { custom_headers: { 'x-token': '****0123', b: 'c' } } });
    expect(await given('older')).toEqual({ 'x-token': 'planted-by-older-0123', b: 'c' });
    expect((await rowOf('older')).configurations).toEqual({ custom_host: host });
  });

  it('are copied with a credential, sealed anew, and never for another host', async () => {
    await make('source', sent);
    await make('older-source', undefined);
    await asOlder('older-source', sent);
    await make('target', { 'x-own-token': 'of-the-target' }, { key: 'sk-own-0123456789abc' });
    for (const name of ['source', 'older-source']) {
      const { id } = await read(`/providers/${name}`);
      const slug = `copy-of-${name}`;
      const body = { name: slug, slug, source_provider_api_key_id: id };
      expect((await plane.ask('POST', '/virtual-keys', { body })).status).toBe(200);
      expect(await given(slug)).toEqual(stored);
      const { integration_id: made } = await read(`/virtual-keys/${slug}`);
      expect(JSON.stringify(await rowOf(made))).not.toContain('planted');
      expect((await rowOf(made)).customHeaders).not.toBe((await rowOf('source')).customHeaders);
      const away = { ...body, slug: `away-${name}`, custom_host: 'https://evil.example.com' };
      const refused = await expectRefusal(plane, () => plane.ask('POST', '/virtual-keys', { body: away }), 400, 'AB01', true);
      expect(refused.body.data.message).toMatch(/^custom_host: a new host requires the credential again/);
      const take = await plane.ask('PUT', '/virtual-keys/target', { body: { source_provider_api_key_id: id } });
      expect(take.status, JSON.stringify(take.body)).toBe(200);
      expect(await given('target')).toEqual(stored);
      await plane.ask('PUT', '/virtual-keys/target', { body: { custom_headers: { 'x-own-token': 'of-the-target' } } });
    }
  });

  it('are deleted when the integration is archived, with those of its models', async () => {
    await make('archived', sent);
    await asOlder('archived', sent);
    const models = [{ slug: 'mine', enabled: true, is_custom: true, custom_headers: { 'x-token': planted } }];
    expect((await plane.ask('PUT', '/integrations/archived/models', { body: { models } })).status).toBe(200);
    const { id } = await rowOf('archived');
    expect((await plane.ask('DELETE', '/integrations/archived')).status).toBe(200);
    const row = await em().findOneOrFail(integrations, { id });
    expect(row).toMatchObject({ customHeaders: null, headerNames: {}, configurations: { custom_host: host } });
    const ofModel = await em().findOneOrFail(integrationModels, { integrationId: id });
    expect(ofModel).toMatchObject({ customHeaders: null, headerNames: {} });
  });
});
