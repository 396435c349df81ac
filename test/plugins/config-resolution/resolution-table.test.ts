import { describe, expect, it } from 'vitest';
import type { ConfigDocument, WorkspaceDocument } from '../../../core/contract/protocol/documents.ts';
import { createHarness, type Harness, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';

const body = { model: 'gpt-5', messages: [] };
const hint = 'The workspace has no config with this slug or id. GET /v1/configs lists them';

interface Setting {
  /** Slugs; each is a saved config whose one target names a model of the same name. */
  readonly ofKey?: string;
  readonly ofWorkspace?: string;
  readonly allowConfigOverride?: boolean;
}

function gatewayWith({ ofKey, ofWorkspace, allowConfigOverride = true }: Setting): Harness {
  const gateway = createHarness({ key: { defaults: { configSlug: ofKey ?? null, metadata: {}, allowConfigOverride } } });
  for (const slug of ['pc-sent', 'pc-key', 'pc-workspace']) {
    gateway.addConfig(slug, { provider: '@one', override_params: { model: slug } });
  }
  const name = `workspace ${workspaceId}`;
  const document = gateway.documents.get(name) as WorkspaceDocument;
  gateway.documents.set(name, { ...document, defaultConfigSlug: ofWorkspace ?? null });
  return gateway;
}

function sentModel(gateway: Harness): unknown {
  return JSON.parse(Buffer.from(gateway.calls[0]?.body as Uint8Array).toString('utf8')).model;
}

describe('the config of a request', () => {
  const key = { ofKey: 'pc-key' };
  const all = { ...key, ofWorkspace: 'pc-workspace' };
  it.each<[string, Setting, Record<string, string>, string, string | null]>([
    ['1. the header, by slug', all, { 'x-svc-config': 'pc-sent' }, 'pc-sent', 'pc-sent'],
    [
      '1. the header, as JSON',
      all,
      { 'x-svc-config': '{"provider":"@one","override_params":{"model":"inline"}}' },
      'inline',
      null,
    ],
    ['2. else the key’s default', all, {}, 'pc-key', 'pc-key'],
    ['2. an empty header is none', all, { 'x-svc-config': '' }, 'pc-key', 'pc-key'],
    ['3. else the workspace’s default', { ofWorkspace: 'pc-workspace' }, {}, 'pc-workspace', 'pc-workspace'],
    ['4. else none', {}, { 'x-svc-provider': '@one' }, 'gpt-5', null],
    ['merge: never, a header replaces the default whole', all, { 'x-svc-config': '{"provider":"@one"}' }, 'gpt-5', null],
    ['lock: the default itself is used', { ...key, allowConfigOverride: false }, {}, 'pc-key', 'pc-key'],
    [
      'lock: a key without a default locks nothing',
      { ofWorkspace: 'pc-workspace', allowConfigOverride: false },
      { 'x-svc-config': 'pc-sent' },
      'pc-sent',
      'pc-sent',
    ],
  ])('%s', async (_line, setting, headers, model, slug) => {
    const gateway = gatewayWith(setting);
    expect((await gateway.send({ body, headers })).status).toBe(200);
    expect([sentModel(gateway), gateway.records[0]?.configSlug]).toEqual([model, slug]);
  });

  describe('named by its id, as in JWTs', () => {
    const id = '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f0007';
    const known = () => {
      const gateway = gatewayWith({ ofKey: id });
      const config = { ...(gateway.documents.get(`config ${workspaceId}/pc-key`) as ConfigDocument), id };
      gateway.documents.set(`config ${workspaceId}/pc-key`, config);
      gateway.documents.set(`config ${workspaceId}/${id}`, config);
      return { gateway, config };
    };

    it('follows the id after a change of the slug', async () => {
      const { gateway, config } = known();
      const newer = { ...config, versionId: 'version-2', config: { provider: '@one', override_params: { model: 'newer' } } };
      gateway.documents.set(`config ${workspaceId}/pc-key`, newer);
      expect((await gateway.send({ body })).status).toBe(200);
      expect(sentModel(gateway)).toBe('newer');
      expect(gateway.records[0]).toMatchObject({ configSlug: 'pc-key', configVersionId: 'version-2' });
    });

    it.each([
      ['was deleted', null],
      ['was deleted, and another has its slug', '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f0008'],
    ])('default config: rejected if it %s, unless the request names one', async (_, other) => {
      const { gateway, config } = known();
      if (other) gateway.documents.set(`config ${workspaceId}/pc-key`, { ...config, id: other });
      else gateway.documents.delete(`config ${workspaceId}/pc-key`);
      const reply = await gateway.send({ body });
      expect([reply.status, reply.json]).toMatchObject([400, { error: { code: 'invalid_config' } }]);
      expect((await gateway.send({ body, headers: { 'x-svc-config': 'pc-sent' } })).status).toBe(200);
    });
  });

  it('with a missing default is rejected, not skipped', async () => {
    for (const ofKey of ['pc-nowhere', '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f0009']) {
      const reply = await gatewayWith({ ofKey, ofWorkspace: 'pc-workspace' }).send({ body });
      expect([reply.status, reply.json]).toMatchObject([
        400,
        { error: { message: `Invalid config id passed: ${ofKey}. ${hint}` } },
      ]);
    }
  });

  it.each([
    ['pc-sent', 'by slug'],
    ['{"provider":"@one"}', 'as JSON'],
  ])('override lock: %s in the header is rejected, %s', async (config) => {
    const gateway = gatewayWith({ ofKey: 'pc-key', allowConfigOverride: false });
    const reply = await gateway.send({ body, headers: { 'x-svc-config': config } });
    expect([reply.status, reply.json]).toMatchObject([
      400,
      { error: { code: 'config_override_blocked', message: 'Cannot override default config set for this API key.' } },
    ]);
    expect(gateway.calls).toHaveLength(0);
  });

  it('scope: a config of another workspace is unknown', async () => {
    const gateway = gatewayWith({});
    const foreign = gateway.addConfig('pc-foreign', { provider: '@one' });
    gateway.documents.delete(`config ${workspaceId}/pc-foreign`);
    gateway.documents.set('config another-workspace/pc-foreign', foreign);
    const replies: unknown[] = [];
    for (const slug of ['pc-foreign', 'pc-nowhere']) {
      const reply = await gateway.send({ body, headers: { 'x-svc-config': slug } });
      const { error } = reply.json as { error: { message: string; code: string } };
      replies.push([reply.status, error.code, error.message.replace(slug, '…')]);
    }
    expect(replies[0]).toEqual([400, 'invalid_config', `Invalid config id passed: …. ${hint}`]);
    expect(replies[1]).toEqual(replies[0]);
    expect(gateway.calls).toHaveLength(0);
  });

  it.each([
    ['provider', { 'x-svc-provider': '@two' }],
    ['virtual-key', { 'x-svc-virtual-key': 'two' }],
  ])('mix: the header %s applies only if the config names no provider', async (_name, headers) => {
    for (const [config, expected] of [
      ['{"retry":{"attempts":1}}', 'two'],
      ['{"provider":"@one"}', 'one'],
    ] as const) {
      const gateway = gatewayWith({});
      expect((await gateway.send({ body, headers: { ...headers, 'x-svc-config': config } })).status).toBe(200);
      expect(gateway.records[0]?.providerSlug).toBe(expected);
    }
  });

  it('mix: x-svc-request-timeout overrides the config', async () => {
    const config = '{"provider":"@one","request_timeout":9000}';
    const timeoutWith = async (headers: Record<string, string>) => {
      const gateway = gatewayWith({});
      await gateway.send({ body, headers: { 'x-svc-config': config, ...headers } });
      return gateway.calls[0]?.timeouts.totalMs;
    };
    const [own, sent] = [await timeoutWith({}), await timeoutWith({ 'x-svc-request-timeout': '4000' })];
    expect(own).toBeGreaterThan(8_000);
    expect(own).toBeLessThanOrEqual(9_000);
    expect(sent).toBeGreaterThan(3_000);
    expect(sent).toBeLessThanOrEqual(4_000);
  });

  it('mix: metadata and trace do not depend on the config', async () => {
    const headers = { 'x-svc-metadata': '{"team":"red"}', 'x-svc-trace-id': 'mine' };
    for (const config of ['pc-sent', '{"provider":"@one"}', '']) {
      const gateway = gatewayWith({ ofKey: 'pc-key' });
      await gateway.send({ body, headers: { ...headers, 'x-svc-config': config } });
      expect(gateway.records[0]).toMatchObject({ metadata: { team: 'red' }, traceId: 'mine' });
    }
  });

  it('versions: the current one applies, and the record names it', async () => {
    const gateway = gatewayWith({});
    const name = `config ${workspaceId}/pc-sent`;
    const first = gateway.documents.get(name) as ConfigDocument;
    await gateway.send({ body, headers: { 'x-svc-config': 'pc-sent' } });
    const second = { ...first, versionId: 'version-2', config: { provider: '@one', override_params: { model: 'newer' } } };
    gateway.documents.set(name, second);
    await gateway.send({ body, headers: { 'x-svc-config': 'pc-sent' } });
    expect(gateway.records.map((record) => record.configVersionId)).toEqual([first.versionId, 'version-2']);
  });
});
