import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { secretOpener } from '../../../../../core/compose/open-sealed.ts';
import { declarations } from '../../../../../core/providers/declarations.ts';
import { providers } from '../../../../../core/providers/index.ts';
import { invalidValues, sampleWith, storedSettings } from '../../../../support/samples/sample-settings.ts';
import { type Plane, startPlane } from '../../../support/plane.ts';
import { ruleDatabase } from '../../../support/test-database.ts';

const accepts = (schema: v.GenericSchema, value: unknown): boolean => v.safeParse(schema, value).success;
const common = new Set(
  declarations.map(({ settings }) => Object.keys(settings)).reduce((all, names) => all.filter((name) => names.includes(name))),
);
/** Settings that all providers have are tested with one of them. */
const cases = declarations.flatMap((declaration) =>
  storedSettings(declaration)
    .filter(([name]) => !common.has(name) || declaration.id === 'openai')
    .map(([name, setting]) => ({ id: declaration.id, name, declaration, setting })),
);

describe('each declared provider setting', () => {
  let plane: Plane;
  let count = 0;
  beforeAll(async () => {
    plane = await startPlane(ruleDatabase);
  });
  afterAll(() => plane?.close());

  it('has a case', () => {
    expect(cases.length).toBeGreaterThan(130);
  });

  it.each(cases)(
    '$id, $name: stored, masked if secret, sent to gateways and read by the adapter',
    async ({ id, name, declaration, setting }) => {
      const slug = `setting-${++count}`;
      const { configurations, key } = sampleWith(declaration, name);
      const body = { name: slug, slug, ai_provider_id: id, key, configurations, workspace_id: plane.workspaceId };
      const made = await plane.ask('POST', '/integrations', { body });
      expect([made.status, made.body.data?.errors]).toEqual([200, undefined]);

      const read = (await plane.ask('GET', `/integrations/${slug}`)).body.configurations;
      if (setting.secret) expect(read[name]).toMatch(/^\*{4}.{0,4}$/);
      else expect(read[name]).toEqual(setting.example);

      const { document } = (await plane.internal('GET', `/documents/provider/${plane.workspaceId}%2F${slug}`)).body;
      if (setting.secret) {
        const opened = secretOpener(plane.settings.clusterKey)(document)[name]?.reveal();
        expect(opened).toBe(typeof setting.example === 'string' ? setting.example : JSON.stringify(setting.example));
      } else {
        const adapter = providers.get(id);
        const parsed = v.safeParse(
          adapter?.variant?.(document.settings)?.settings ?? adapter?.settings ?? v.never(),
          document.settings,
        );
        expect(parsed.success).toBe(true);
      }
      for (const value of invalidValues(setting, accepts)) {
        const refused = await plane.ask('PUT', `/integrations/${slug}`, { body: { configurations: { [name]: value } } });
        expect([value, refused.status]).toEqual([value, 400]);
        expect(refused.body.data.errors.join()).toContain(`configurations.${name}`);
      }
      if (setting.secret) expect(JSON.stringify(read)).not.toContain(String(setting.example));
    },
  );
});

/** A credential file of Google Cloud for workload identity federation. */
const federated = (more: object) => ({
  ...{ type: 'external_account', audience: 'a', subject_token_type: 'urn:ietf:params:oauth:token-type:jwt' },
  ...{ credential_source: { url: 'https://idp.example.com/token' }, ...more },
});

describe('settings that would fail at call time', () => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(ruleDatabase);
  });
  afterAll(() => plane?.close());

  it.each([
    ['bedrock', { aws_region: 'Frankfurt' }, /configurations\.aws_region: expected an AWS region/],
    ['bedrock', { aws_role_arn: 'gateway' }, /configurations\.aws_role_arn: expected the ARN of a role/],
    ['vertex-ai', { vertex_region: 'Europe' }, /configurations\.vertex_region: expected a region/],
    [
      'vertex-ai',
      { vertex_service_account_json: { type: 'robot' } },
      /configurations\.vertex_service_account_json: type: expected/,
    ],
    [
      'vertex-ai',
      { vertex_service_account_json: federated({ credential_source: { environment_id: 'aws1' } }) },
      /configurations\.vertex_service_account_json: credential_source\.environment_id: AWS as a source is not supported/,
    ],
    [
      'vertex-ai',
      { vertex_service_account_json: federated({ credential_source: { executable: { command: 'token' } } }) },
      /credential_source\.executable: not supported\. Use url or file/,
    ],
    [
      'vertex-ai',
      { vertex_service_account_json: federated({ credential_source: {} }) },
      /credential_source: url or file is expected/,
    ],
    [
      'vertex-ai',
      { vertex_service_account_json: federated({ credential_source: { file: '/etc/passwd' } }) },
      /credential_source\.file: a token below/,
    ],
    [
      'vertex-ai',
      { vertex_service_account_json: federated({ token_url: 'https://sts.example.com' }) },
      /token_url: an https address of googleapis\.com/,
    ],
    [
      'azure-openai',
      { azure_resource_name: 'https://r.openai.azure.com' },
      /configurations\.azure_resource_name: expected the name/,
    ],
    ['oracle', { oracle_fingerprint: 'ab' }, /configurations\.oracle_fingerprint: expected the fingerprint/],
    [
      'sagemaker',
      { aws_auth_type: 'apiKey' },
      /configurations\.aws_auth_type: expected one of accessKey, assumedRole, serviceRole/,
    ],
    ['ollama', {}, /configurations\.custom_host: required for ollama/],
    ['databricks', {}, /configurations\.databricks_workspace: required for databricks without custom_host/],
    ['oracle', { oracle_region: 'us-chicago-1' }, /configurations\.oracle_private_key: required for oracle without key/],
    ['groq', { aws_region: 'eu-central-1' }, /configurations\.aws_region: unknown key/],
  ])('settings that would fail at call time: %s with %j is 400', async (id, configurations, error) => {
    const body = { name: 'x', ai_provider_id: id, configurations };
    const reply = await plane.ask('POST', '/integrations', { body });
    expect(reply.status).toBe(400);
    expect(reply.body.data.errors.join('; ')).toMatch(error);
  });

  it('stay stored from before their schema became stricter, and are rejected when sent', async () => {
    const configurations = {
      aws_auth_type: 'accessKey',
      aws_region: 'eu-central-1',
      aws_access_key_id: 'AKIA0',
      aws_secret_access_key: 'secret',
    };
    await plane.ask('POST', '/integrations', { body: { name: 'old', slug: 'old', ai_provider_id: 'bedrock', configurations } });
    const { database } = plane.control.services;
    await database
      .em()
      .execute(`update integrations set configurations = configurations || '{"aws_region":"Frankfurt"}' where slug = 'old'`);
    expect((await plane.ask('GET', '/integrations/old')).body.configurations.aws_region).toBe('Frankfurt');
    expect((await plane.ask('PUT', '/integrations/old', { body: { name: 'renamed' } })).status).toBe(200);
    const sent = await plane.ask('PUT', '/integrations/old', { body: { configurations: { aws_region: 'Frankfurt' } } });
    expect(sent.status).toBe(400);
  });
});
