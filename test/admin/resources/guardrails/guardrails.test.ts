import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { guardrailVersions } from '../../../../admin/resources/guardrails/entity.ts';
import { keyPurposes } from '../../../../core/contract/protocol/credentials/key-purposes.ts';
import { deriveKey, unseal } from '../../../../core/contract/values/credentials/secret.ts';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import type { Plane } from '../../support/plane.ts';
import { startPlaneWithGateway } from '../../support/plane-gateway.ts';
import { ruleDatabases } from '../../support/test-database.ts';
import { noSecrets } from './probes.ts';

describe.each(ruleDatabases)('saved guardrails, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlaneWithGateway(database);
  });
  afterAll(() => plane?.close());

  const create = (more: object = {}) =>
    plane.ask('POST', '/guardrails', { body: { ...noSecrets, workspace_id: plane.workspaceId, ...more } });
  const slugOf = async (more: object = {}): Promise<string> => (await create(more)).body.slug;
  const document = async (name: string) =>
    (await plane.internal('GET', `/documents/guardrail/${encodeURIComponent(name)}`)).body.document;

  it('are stored with a receipt as the reply, read back and sent to gateways by slug, id and version', async () => {
    const events = (await plane.events()).length;
    const { body, status } = await create();
    expect(status, JSON.stringify(body)).toBe(200);
    const { id, slug, version_id } = body;
    expect(body).toEqual({
      success: true,
      ...{ id, version_id, slug, object: 'guardrail' },
      data: { id, version_id, slug, object: 'guardrail' },
    });
    expect(slug).toMatch(/^pg-no-secrets-[0-9a-f]{6}$/);
    const added = (await plane.events()).slice(events).map((event) => `${event.kind} ${event.documentId} ${event.op}`);
    expect(added).toEqual([`guardrail ${plane.workspaceId}/${slug} upsert`, `guardrail ${plane.workspaceId}/${id} upsert`]);
    for (const name of [slug, id]) {
      const read = (await plane.ask('GET', `/guardrails/${name}`)).body;
      expect(read).toMatchObject({
        ...{ id, slug, version_id, name: 'No secrets', target: 'llm', status: 'active' },
        ...{
          organisation_id: plane.organisationId,
          workspace_id: plane.workspaceId,
          mcp_server_mappings: [],
          object: 'guardrail',
        },
        checks: noSecrets.checks,
        actions: { deny: true, async: false, sequential: false, on_success: null, on_fail: null },
      });
      expect(await document(`${plane.workspaceId}/${name}`)).toMatchObject({ slug, versionId: version_id, secrets: null });
    }
    expect(await document(`${plane.workspaceId}/${id}/${version_id}`)).toMatchObject({ versionId: version_id });
    expect(await document(`${plane.organisationId}/${slug}`)).toBeNull();
    const v2 = await fetch(`${plane.url}/v2/guardrails/${slug}`, { headers: { 'x-svc-api-key': plane.workspaceKey } });
    expect(v2.status).toBe(200);
  });

  it('are tested by callers who may run or change guardrails, because a run uses stored credentials', async () => {
    const slug = await slugOf();
    const codeFor = async (...scopes: string[]) => {
      const body = { name: 'tester', workspace_id: plane.workspaceId, scopes };
      const { key } = (await plane.ask('POST', '/api-keys/workspace/service', { body })).body;
      return (await plane.ask('POST', '/guardrails/test', { key, body: { guardrail: slug, text: 'a' } })).body.data.errorCode;
    };
    expect(await codeFor('guardrails.read')).toBe('AB03');
    // The gateway of this test runs no guardrails.
    expect(await codeFor('guardrails.read', 'guardrails.invoke')).toBe('AB10');
    expect(await codeFor('guardrails.read', 'guardrails.update')).toBe('AB10');
  });

  it('get a new version if checks or actions change, and keep the old ones', async () => {
    const { slug, id, version_id: first } = (await create()).body;
    const path = `/guardrails/${slug}`;
    const renamed = await plane.ask('PUT', path, {
      body: { name: 'Renamed', checks: noSecrets.checks, actions: { deny: true } },
    });
    expect(renamed.body).toMatchObject({ id, slug, version_id: first });
    const changed = await expectChange(plane, () => plane.ask('PUT', path, { body: { actions: { deny: false } } }), {
      resource: 'guardrails',
      action: 'update',
      events: [`guardrail ${plane.workspaceId}/${slug} upsert`, `guardrail ${plane.workspaceId}/${id} upsert`],
    });
    expect(changed.body.version_id).not.toBe(first);
    const versions = (await plane.ask('GET', `${path}/versions`)).body;
    expect(versions.total).toBe(2);
    expect(versions.data.map((one: { actions: { deny: boolean } }) => one.actions.deny)).toEqual([false, true]);
    expect((await plane.ask('GET', `${path}/versions/${first}`)).body).toMatchObject({
      version_id: first,
      actions: { deny: true },
    });
    expect((await plane.ask('GET', path)).body).toMatchObject({ name: 'Renamed', version_id: changed.body.version_id });
    expect(await document(`${plane.workspaceId}/${id}/${first}`)).toMatchObject({ versionId: first, actions: { deny: true } });
  });

  it('return actions as sent if they say onFail, which denies like deny', async () => {
    const sent = { onFail: 'block', message: 'No secrets here' };
    const { slug, version_id } = (await create({ actions: sent })).body;
    expect((await plane.ask('GET', `/guardrails/${slug}`)).body.actions).toEqual(sent);
    const usual = { deny: true, async: false, sequential: false, on_success: null, on_fail: null, message: sent.message };
    expect((await document(`${plane.workspaceId}/${slug}`)).actions).toEqual(usual);
    const put = (actions: object) => plane.ask('PUT', `/guardrails/${slug}`, { body: { actions } });
    expect((await put(sent)).body.version_id).toBe(version_id);
    for (const onFail of ['log', 'warn']) {
      await put({ onFail });
      expect((await document(`${plane.workspaceId}/${slug}`)).actions).toMatchObject({ deny: false });
      expect((await plane.ask('GET', `/guardrails/${slug}`)).body.actions).toEqual({ onFail });
    }
    await put({ deny: true, message: sent.message });
    expect((await plane.ask('GET', `/guardrails/${slug}`)).body.actions).toEqual(usual);
  });

  it('are archived: gone from reads, lists and gateways, with all versions', async () => {
    const { slug, id, version_id } = (await create()).body;
    await expectChange(plane, () => plane.ask('DELETE', `/guardrails/${slug}`), {
      resource: 'guardrails',
      action: 'delete',
      events: [`guardrail ${plane.workspaceId}/${slug} delete`, `guardrail ${plane.workspaceId}/${id} delete`],
    });
    expect((await plane.ask('GET', `/guardrails/${slug}`)).status).toBe(404);
    expect(JSON.stringify((await plane.ask('GET', '/guardrails')).body)).not.toContain(slug);
    for (const name of [slug, id, `${id}/${version_id}`]) expect(await document(`${plane.workspaceId}/${name}`)).toBeNull();
  });

  it('are listed in pages, by ids or slugs, and by the rights of the caller', async () => {
    const own = await slugOf();
    const ofOrganisation = (await create({ workspace_id: undefined })).body;
    const slugs = async (query: string, key = plane.adminKey) =>
      (await plane.ask('GET', `/guardrails${query}`, { key })).body.data.map((row: { slug: string }) => row.slug) as string[];
    expect(await slugs(`?ids=${own},${ofOrganisation.id},pg-none`)).toEqual([ofOrganisation.slug, own]);
    expect((await slugs('?page_size=1&current_page=1'))[0]).toBe((await slugs(''))[1]);
    expect(await slugs(`?workspace_id=${plane.workspaceId}`)).not.toContain(ofOrganisation.slug);
    expect(await slugs('', plane.workspaceKey)).not.toContain(ofOrganisation.slug);
    const limited = await plane.newKey(['organisation_guardrails.list'], 'organisation/service');
    expect(await slugs('', limited)).toEqual([ofOrganisation.slug]);
    const ofWorkspaces = await plane.newKey(['guardrails.list'], 'organisation/service');
    expect(await slugs('', ofWorkspaces)).not.toContain(ofOrganisation.slug);
  });

  it('have scopes and documents of their own if they belong to the organisation', async () => {
    const { slug, id } = (await create({ workspace_id: undefined })).body;
    expect(await document(`${plane.organisationId}/${slug}`)).toMatchObject({ id, workspaceId: null });
    expect(await document(`${plane.workspaceId}/${slug}`)).toBeNull();
    expect((await plane.ask('GET', `/guardrails/${slug}`, { key: plane.workspaceKey })).status).toBe(404);
    const actions = ['create', 'read', 'update', 'delete'];
    const workspaceOnly = await plane.newKey(
      actions.map((action) => `guardrails.${action}`),
      'organisation/service',
    );
    for (const [method, path, body] of [
      ['POST', '/guardrails', noSecrets],
      ['GET', `/guardrails/${slug}`, undefined],
      ['PUT', `/guardrails/${slug}`, { name: 'x' }],
      ['DELETE', `/guardrails/${slug}`, undefined],
    ] as const) {
      const request = () => plane.ask(method, path, { key: workspaceOnly, ...(body ? { body } : {}) });
      await expectRefusal(plane, request, 403, 'AB03', method !== 'GET');
    }
  });

  const contains = noSecrets.checks[0];
  it.each<[string, object, string]>([
    ['no checks', { checks: [] }, 'checks: at least one check is expected'],
    ['an unknown check', { checks: [{ id: 'default.nope' }] }, 'checks[0].id: there is no check default.nope'],
    ['a wrong parameter', { checks: [contains, { id: 'contains', parameters: { words: [] } }] }, 'checks[1].parameters.words: '],
    [
      'a wrong parameter of a disabled check',
      { checks: [{ ...contains, parameters: {}, is_enabled: false }] },
      'checks[0].parameters.words: ',
    ],
    [
      'a pattern with look-ahead',
      { checks: [{ id: 'default.regexMatch', parameters: { rule: '(?=x)' } }] },
      'checks[0].parameters.rule: ',
    ],
    [
      'checks of different sides',
      { checks: [{ id: 'default.notNull' }, { id: 'default.modelWhitelist', parameters: { models: ['m'] } }] },
      'checks: some of them check requests only',
    ],
    [
      'a credential header',
      { checks: [{ id: 'default.webhook', parameters: { webhookURL: 'https://a.example', forwardHeaders: ['cookie'] } }] },
      'checks[0].parameters.forwardHeaders[0]: ',
    ],
    [
      'a header of the metadata service',
      {
        checks: [{ id: 'default.webhook', parameters: { webhookURL: 'https://a.example', headers: { 'metadata-flavor': 'x' } } }],
      },
      'checks[0].parameters.headers',
    ],
    [
      'the address of a metadata service',
      { checks: [{ id: 'default.webhook', parameters: { webhookURL: 'http://169.254.169.254/latest?a=1' } }] },
      'checks[0].parameters.webhookURL: must not be a metadata service',
    ],
    [
      'a private address',
      { checks: [{ id: 'default.jwt', parameters: { jwksUri: 'https://10.0.0.5/keys' }, is_enabled: false }] },
      'checks[0].parameters.jwksUri: must be a public address. The operator can allow a private one in TRUSTED_CUSTOM_HOSTS',
    ],
    [
      'an internal host',
      { checks: [{ id: 'svc.http', parameters: { url: 'http://localhost/x', verdictPointer: '/ok' } }] },
      'checks[0].parameters.url: must not be an internal host',
    ],
    [
      'a masked secret',
      {
        checks: [
          { id: 'default.webhook', parameters: { webhookURL: 'https://a.example', headers: { authorization: '****abcd' } } },
        ],
      },
      'checks[0].parameters.headers.authorization: a masked value',
    ],
    ['an unknown action', { actions: { denny: true } }, 'actions.denny: unknown key; did you mean deny?'],
    ['a foreign check for MCP tools', { target: 'mcp_tools', checks: [{ id: 'acme.scan' }] }, 'checks[0].id: '],
    ['an unknown target', { target: 'x' }, 'target: '],
    ['deny beside onFail', { actions: { deny: true, onFail: 'log' } }, 'actions: deny and onFail are the same'],
  ])('are rejected with %s', async (_name, more, message) => {
    const reply = await expectRefusal(plane, () => create(more), 400, 'AB01', true);
    expect(reply.body.data.message).toContain(message);
  });

  it('keep their target, slug and workspace', async () => {
    const slug = await slugOf();
    for (const body of [{ target: 'mcp_tools' }, { slug: 'pg-other' }]) {
      await expectRefusal(plane, () => plane.ask('PUT', `/guardrails/${slug}`, { body }), 400, 'AB01', true);
    }
  });

  it('for MCP tools are sent to gateways with their target', async () => {
    const made = await create({ target: 'mcp_tools' });
    expect(made.status).toBe(200);
    expect(await document(`${plane.workspaceId}/${made.body.slug}`)).toMatchObject({ id: made.body.id, target: 'mcp_tools' });
  });

  it('have a list of all checks', async () => {
    const { status, body } = await plane.ask('GET', '/guardrails/checks', { key: plane.workspaceKey });
    expect(status).toBe(200);
    expect(body.data.find(({ id }: { id: string }) => id === 'default.contains')).toMatchObject({
      ...{ sides: ['input', 'output'], changes: 'never' },
      parameters: { required: ['words'] },
    });
  });

  describe('with secret parameters', () => {
    const webhook = (webhookURL: string, authorization: string) => [
      { id: 'default.webhook', parameters: { webhookURL, headers: { authorization } } },
    ];
    const secret = 'Bearer s3cret-value-1234';

    it('seal them in the database and for gateways, and show masks', async () => {
      const { slug, version_id } = (await create({ checks: webhook('https://a.example/hook', secret) })).body;
      const shown = (await plane.ask('GET', `/guardrails/${slug}`)).body;
      expect(shown.checks[0].parameters).toEqual({
        webhookURL: 'https://a.example/hook',
        headers: { authorization: '****1234' },
      });
      const sent = await document(`${plane.workspaceId}/${slug}`);
      const row = await plane.control.services.database.em().findOneOrFail(guardrailVersions, { id: version_id });
      expect(JSON.stringify([sent, row, shown, (await plane.ask('GET', '/audit-logs')).body])).not.toContain('s3cret');
      const key = deriveKey(plane.settings.clusterKey, keyPurposes.transport);
      const opened = JSON.parse(unseal(key, sent.secrets, `guardrail/${version_id}`).toString());
      expect(opened).toEqual({ 0: { '/headers/authorization': secret } });
    });

    it('keep them when the mask is sent back for the same host, and reject it for another', async () => {
      const { slug } = (await create({ checks: webhook('https://a.example/hook', secret) })).body;
      const put = (checks: object) => plane.ask('PUT', `/guardrails/${slug}`, { body: { checks } });
      const moved = await put(webhook('https://a.example/other', '****1234'));
      expect(moved.status).toBe(200);
      const sent = await document(`${plane.workspaceId}/${slug}`);
      const key = deriveKey(plane.settings.clusterKey, keyPurposes.transport);
      expect(unseal(key, sent.secrets, `guardrail/${moved.body.version_id}`).toString()).toContain(secret);
      for (const checks of [webhook('https://b.example/hook', '****1234'), webhook('https://a.example', '****9999')]) {
        const reply = await expectRefusal(plane, () => put(checks), 400, 'AB01', true);
        expect(reply.body.data.message).toContain('checks[0].parameters.headers.authorization: a masked value');
      }
      expect((await put(webhook('https://b.example/hook', 'Bearer new-value-123456'))).status).toBe(200);
    });
  });

  describe('in use', () => {
    const config = (entry: unknown, side = 'input') => ({
      name: 'c',
      workspace_id: plane.workspaceId,
      config: { provider: '@mock', [`${side}_guardrails`]: [entry] },
    });

    it('can be named by configs of their workspace that exist, in a version that exists, on a side they can run on', async () => {
      const { slug, id, version_id } = (await create()).body;
      const output = (await create({ checks: [{ id: 'default.notNull' }] })).body;
      const ofOrganisation = await slugOf({ workspace_id: undefined });
      for (const entry of [slug, id, ofOrganisation, { id: slug, guardrail_version_id: version_id, deny: false }]) {
        expect(await plane.ask('POST', '/configs', { body: config(entry) })).toMatchObject({ status: 200 });
      }
      for (const [entry, message] of [
        ['pg-none', 'config.input_guardrails[0]: no guardrail pg-none in this workspace'],
        [{ id: slug, guardrail_version_id: output.version_id }, 'config.input_guardrails[0].guardrail_version_id: '],
        [output.slug, `config.input_guardrails[0]: the checks of ${output.slug} run on responses only`],
      ] as const) {
        const reply = await expectRefusal(plane, () => plane.ask('POST', '/configs', { body: config(entry) }), 400, 'AB01', true);
        expect(reply.body.data.message).toContain(message);
      }
      const nested = {
        name: 'c',
        workspace_id: plane.workspaceId,
        config: { targets: [{ provider: '@mock', output_guardrails: ['pg-none'] }] },
      };
      const reply = await plane.ask('POST', '/configs', { body: nested });
      expect(reply.body.data.message).toContain('config.targets[0].output_guardrails[0]: no guardrail pg-none');
    });

    it('cannot be deleted, or lose the side, while a config names them', async () => {
      const { slug } = (await create()).body;
      const made = (await plane.ask('POST', '/configs', { body: config({ id: slug, deny: false }, 'output') })).body;
      const remove = () => plane.ask('DELETE', `/guardrails/${slug}`);
      const refused = await expectRefusal(plane, remove, 409, 'AB07', true);
      expect(refused.body.data.message).toContain(`is used by 1 config (${made.slug}). Remove it there first`);
      const body = { checks: [{ id: 'default.modelWhitelist', parameters: { models: ['m'] } }] };
      await expectRefusal(plane, () => plane.ask('PUT', `/guardrails/${slug}`, { body }), 409, 'AB07', true);
      await plane.ask('DELETE', `/configs/${made.slug}`);
      expect((await remove()).status).toBe(200);
    });

    it('can be defaults of the organisation and of workspaces, and then cannot be deleted', async () => {
      const own = (await create()).body;
      const ofOrganisation = (await create({ workspace_id: undefined })).body;
      const path = '/admin/organisation/defaults';
      const envelope = { checks: [{ id: 'default.requiredMetadataKeys', parameters: { metadataKeys: ['team'] } }] };
      const start = (await create({ ...envelope, workspace_id: undefined })).body;
      const lists = {
        start_hooks: [start.slug],
        input_guardrails: [ofOrganisation.slug, ofOrganisation.id],
        output_guardrails: [ofOrganisation.id],
      };
      expect((await plane.ask('PUT', path, { body: lists })).status).toBe(200);
      const entry = { id: ofOrganisation.id, slug: ofOrganisation.slug };
      expect((await plane.ask('GET', path)).body).toEqual({
        start_hooks: [{ id: start.id, slug: start.slug }],
        input_guardrails: [entry],
        output_guardrails: [entry],
      });
      await expectRefusal(plane, () => plane.ask('PUT', path, { body: { input_guardrails: [own.slug] } }), 404, 'AB02', true);
      const workspace = `/admin/workspaces/${plane.workspaceId}`;
      const defaults = { start_hooks: [start.id], input_guardrails: [own.id, ofOrganisation.slug] };
      expect((await plane.ask('PUT', workspace, { body: { defaults } })).status).toBe(200);
      const read = (await plane.ask('GET', workspace)).body;
      expect(read.defaults.input_guardrails).toEqual([own.slug, ofOrganisation.slug]);
      expect(read.defaults.start_hooks).toEqual([start.slug]);
      const readsText = { defaults: { start_hooks: [own.slug] } };
      const refused = await expectRefusal(plane, () => plane.ask('PUT', workspace, { body: readsText }), 400, 'AB01', true);
      expect(refused.body.data.message).toContain('need the body, which start hooks do not see');
      const notNull = await slugOf({ checks: [{ id: 'default.notNull' }] });
      const wrong = { defaults: { input_guardrails: [notNull] } };
      await expectRefusal(plane, () => plane.ask('PUT', workspace, { body: wrong }), 400, 'AB01', true);
      for (const [slug, where] of [
        [own.slug, 'the defaults of 1 workspace (ws-default)'],
        [ofOrganisation.slug, 'the defaults of the organisation and by the defaults of 1 workspace'],
        [start.slug, 'the defaults of the organisation and by the defaults of 1 workspace'],
      ]) {
        const reply = await expectRefusal(plane, () => plane.ask('DELETE', `/guardrails/${slug}`), 409, 'AB07', true);
        expect(reply.body.data.message).toContain(where);
      }
      const sent = (await plane.internal('GET', `/documents/workspace/${plane.workspaceId}`)).body.document.guardrails;
      expect(sent).toEqual({
        organisationStart: [start.slug],
        start: [start.slug],
        organisationInput: [ofOrganisation.slug],
        organisationOutput: [ofOrganisation.slug],
        input: [own.slug, ofOrganisation.slug],
        output: [],
      });
      await plane.ask('PUT', path, { body: { start_hooks: [], input_guardrails: [], output_guardrails: [] } });
      await plane.ask('PUT', workspace, { body: { defaults: { start_hooks: [], input_guardrails: [] } } });
      expect((await plane.ask('DELETE', `/guardrails/${own.slug}`)).status).toBe(200);
      expect((await plane.ask('DELETE', `/guardrails/${start.slug}`)).status).toBe(200);
    });
  });
});
