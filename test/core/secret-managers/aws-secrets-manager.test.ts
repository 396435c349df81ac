import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakeClouds, startFakeClouds } from '../../support/fakes/fake-clouds/fake-clouds.ts';
import { type FakeSecretsManager, fakeSecretsManager } from '../../support/fakes/fake-clouds/fake-secrets-manager.ts';
import { documentWith, type MappedGiven, managersOfTest, mappedSecret, type UnderTestOptions } from './managers-under-test.ts';

/** Over TLS to a cloud that checks every signature itself. */
const region = 'eu-central-1';
const arn = `arn:aws:secretsmanager:${region}:123456789012:secret:prod/openai-AbCdEf`;
const role = 'arn:aws:iam::123456789012:role/reader';
const aws: FakeSecretsManager = fakeSecretsManager(region, {});
let clouds: FakeClouds;
const start = (options: UnderTestOptions = {}) => managersOfTest({ clouds, ...options });

beforeAll(async () => {
  clouds = await startFakeClouds(aws.clouds);
});
afterAll(() => clouds.close());
beforeEach(() => {
  for (const key of Object.keys(aws.keys)) delete aws.keys[key];
  aws.keys.AKIDEXAMPLE = 'the-secret';
  aws.secrets.clear();
  aws.secrets.set('prod/openai', { SecretString: 'sk-from-aws' });
  aws.roles.clear();
  aws.instead = null;
});

const mapped = (given: Partial<MappedGiven> = {}) =>
  documentWith(
    mappedSecret({
      managerType: 'aws_sm',
      path: 'prod/openai',
      auth: { aws_auth_type: 'accessKey', aws_region: region },
      secrets: { aws_access_key_id: 'AKIDEXAMPLE', aws_secret_access_key: 'the-secret' },
      ...given,
    }),
  );

describe('AWS Secrets Manager with access keys', () => {
  it('returns the whole secret, or the value of its key', async () => {
    const json = '{"openai":"sk-1","number":7}';
    aws.secrets.set('many', { SecretString: json });
    const { read } = start();
    expect(await read(mapped())).toEqual({ api_key: 'sk-from-aws' });
    expect(await read(mapped({ path: 'many' }))).toEqual({ api_key: json });
    expect(await read(mapped({ path: 'many', key: 'openai' }))).toEqual({ api_key: 'sk-1' });
    expect(await read(mapped({ path: 'many', key: 'number' }))).toEqual({ api_key: '7' });
  });

  it('returns a binary secret as text, if it is text', async () => {
    aws.secrets.set('bytes', { SecretBinary: Buffer.from('größer').toString('base64') });
    aws.secrets.set('noise', { SecretBinary: Buffer.from([0xff, 0xfe, 0x00]).toString('base64') });
    const under = start();
    expect(await under.read(mapped({ path: 'bytes' }))).toEqual({ api_key: 'größer' });
    expect(await under.managers.check(mapped({ path: 'noise' }))).toEqual(['the secret is binary. Store it as text']);
  });

  it('reads an ARN in its own region', async () => {
    aws.secrets.set(arn, { SecretString: 'by arn' });
    const under = start();
    expect(await under.read(mapped({ path: arn, auth: { aws_auth_type: 'accessKey', aws_region: 'us-east-1' } }))).toEqual({
      api_key: 'by arn',
    });
    expect(clouds.requests.at(-1)?.host).toBe(`secretsmanager.${region}.amazonaws.com`);
    expect(await under.managers.check(mapped({ path: 'arn:aws:secretsmanager:evil.example:1:secret:x' }))).toEqual([
      'secret_path: expected an ARN with an AWS region',
    ]);
  });

  it('reports only the name of an AWS error', async () => {
    const under = start();
    expect(await under.managers.check(mapped({ path: 'none' }))).toEqual([
      'AWS Secrets Manager responded with 400 ResourceNotFoundException',
    ]);
    aws.keys.AKIDEXAMPLE = 'another';
    expect(await under.managers.check(mapped())).toEqual(['AWS Secrets Manager responded with 400 InvalidSignatureException']);
    await expect(under.read(mapped())).rejects.toMatchObject({ code: 'secret_unavailable' });
  });

  it('names missing or malformed fields before any request', async () => {
    const under = start();
    const before = clouds.requests.length;
    const auth = { aws_auth_type: 'accessKey', aws_region: region };
    for (const [given, reason] of [
      [{ secrets: { aws_access_key_id: 'AKIDEXAMPLE' } }, 'aws_secret_access_key is missing'],
      [{ auth: { aws_auth_type: 'accessKey' } }, 'aws_region is missing'],
      [{ auth: { ...auth, aws_region: 'evil.example/x' } }, 'aws_region: expected an AWS region such as us-east-1'],
      [{ auth: { ...auth, aws_auth_type: 'apiKey' } }, 'aws_auth_type: expected one of accessKey, assumedRole, serviceRole'],
    ] as const) {
      expect(await under.managers.check(mapped(given))).toEqual([reason]);
    }
    expect(clouds.requests.length).toBe(before);
  });

  it.each([
    ['too many callers', { status: 400, body: { __type: 'ThrottlingException' } }],
    ['a fault of AWS', { status: 500, body: { __type: 'InternalServiceError' } }],
    ['a connection that ends', 'cut'],
    ['no reply', 'stall'],
  ] as const)('%s leaves the value that was there', async (_what, reply) => {
    const under = start({ ttlMs: 1_000 });
    const document = mapped();
    await under.read(document);
    aws.instead = () => reply as never;
    if (reply === 'stall') under.timeoutMs = 100;
    under.advance(60_000);
    expect(await under.read(document)).toEqual({ api_key: 'sk-from-aws' });
    expect(under.logLines).toHaveLength(1);
  });
});

describe('AWS Secrets Manager with a role', () => {
  const machine = {
    machineIdentity: true,
    metadata: (url: string) =>
      url.endsWith('/token') || url.endsWith('/security-credentials/')
        ? {}
        : { AccessKeyId: 'ASIAMACHINE', SecretAccessKey: 'machine', Token: 't', Expiration: '2126-01-01T00:00:00Z' },
  };
  const assumed = (more: Record<string, string> = {}) =>
    mapped({ auth: { aws_auth_type: 'assumedRole', aws_region: region, aws_role_arn: role, ...more }, secrets: {} });

  it('assumes the role as the machine, with the external id of the reference', async () => {
    aws.keys.ASIAMACHINE = 'machine';
    aws.roles.set(role, 'external-1');
    const { read } = start(machine);
    expect(await read(assumed({ aws_external_id: 'external-1' }))).toEqual({ api_key: 'sk-from-aws' });
    const [form] = clouds.requests
      .filter(({ host }) => host.startsWith('sts.'))
      .map(({ body }) => new URLSearchParams(body.toString()));
    expect([form?.get('RoleArn'), form?.get('ExternalId')]).toEqual([role, 'external-1']);
  });

  it('returns the rejection of a role that may not be assumed', async () => {
    aws.keys.ASIAMACHINE = 'machine';
    aws.roles.set(role, 'external-1');
    expect(await start(machine).managers.check(assumed({ aws_external_id: 'external-2' }))).toEqual([
      'The AWS role could not be assumed: AccessDenied',
    ]);
  });

  it('reads as the machine itself, in the region of the ARN', async () => {
    aws.keys.ASIAMACHINE = 'machine';
    aws.secrets.set(arn, { SecretString: 'by arn' });
    const own = mapped({ path: arn, auth: { aws_auth_type: 'serviceRole' }, secrets: {} });
    expect(await start(machine).read(own)).toEqual({ api_key: 'by arn' });
  });

  it('does not use the machine’s identity unless the deployment allows it', async () => {
    const { managers } = start();
    const own = mapped({ auth: { aws_auth_type: 'serviceRole', aws_region: region }, secrets: {} });
    for (const document of [assumed(), own]) {
      expect(await managers.check(document)).toEqual([expect.stringContaining('MACHINE_IDENTITY')]);
    }
  });
});
