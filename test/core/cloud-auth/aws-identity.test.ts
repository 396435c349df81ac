import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { describe, expect, it, onTestFinished } from 'vitest';
import { awsIdentity } from '../../../core/cloud-auth/aws-identity.ts';
import { machineIdentity } from '../../../core/cloud-auth/aws-machine-identity.ts';
import { createTokenCaches } from '../../../core/cloud-auth/token-cache.ts';
import { createSignServices } from '../../../core/compose/sign-services.ts';
import type { SignServices, TokenRequest } from '../../../core/contract/provider/sign-services.ts';
import { Secret } from '../../../core/contract/values/credentials/secret.ts';
import { findHeader } from '../../../core/contract/values/http/http.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { awsSettings } from '../../../core/provider-settings/aws.ts';
import { createTransport } from '../../../core/upstream/transport.ts';
import { until } from '../../support/until.ts';

type Reply = { status: number; body: string };

/** Token services controlled by the test: their requests, their replies, and the clock. */
function fakeServices(reply: (request: TokenRequest) => Reply, machineIdentity = false) {
  const asked: TokenRequest[] = [];
  const clock = { nowMs: Date.UTC(2026, 10, 21, 12) };
  const services: SignServices = {
    machineIdentity,
    tokens: createTokenCaches(),
    now: () => clock.nowMs,
    fetch: async (request) => {
      asked.push(request);
      const { status, body } = reply(request);
      return { status, headers: [], body: Buffer.from(body) };
    },
  };
  return { services, asked, clock };
}

function roleReply(name: string, expiresAtMs: number, action = 'AssumeRole'): Reply {
  const keys = `<AccessKeyId>ASIA${name}</AccessKeyId><SecretAccessKey>secret/${name}+=</SecretAccessKey><SessionToken>token-${name}==</SessionToken>`;
  const expiration = `<Expiration>${new Date(expiresAtMs).toISOString()}</Expiration>`;
  const body = `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/">\n  <${action}Result>\n    <Credentials>${keys}${expiration}</Credentials>\n  </${action}Result>\n</${action}Response>`;
  return { status: 200, body };
}

const hourMs = 3_600_000;
const role = {
  aws_auth_type: 'assumedRole',
  aws_region: 'eu-west-1',
  aws_role_arn: 'arn:aws:iam::123456789012:role/models',
  aws_external_id: 'ours/7',
};
const keys = (secret = 'sk', id = 'AKIDEXAMPLE') => ({
  aws_access_key_id: new Secret(id),
  aws_secret_access_key: new Secret(secret),
});

describe('access keys', () => {
  it('are used unchanged, with the session token if there is one', () => {
    const { services, asked } = fakeServices(() => ({ status: 500, body: '' }));
    const given = { ...keys(), aws_session_token: new Secret('st') };
    expect(awsIdentity({}, given, services)).toEqual({
      accessKeyId: 'AKIDEXAMPLE',
      secretAccessKey: 'sk',
      sessionToken: 'st',
      expiresAtMs: null,
    });
    expect(asked).toEqual([]);
  });

  it('are required: the error names the missing one', () => {
    const { services } = fakeServices(() => ({ status: 500, body: '' }));
    expect(() => awsIdentity({ aws_auth_type: 'accessKey' }, {}, services)).toThrow('aws_access_key_id is required');
    const half = { aws_access_key_id: new Secret('AKID') };
    expect(() => awsIdentity({}, half, services)).toThrow('aws_secret_access_key is required');
  });
});

describe('an assumed role', () => {
  it('comes from the token service of the region, in a call signed with the given keys', async () => {
    const { services, asked, clock } = fakeServices(() => roleReply('one', clock.nowMs + hourMs));
    expect(await awsIdentity(role, keys(), services)).toEqual({
      accessKeyId: 'ASIAone',
      secretAccessKey: 'secret/one+=',
      sessionToken: 'token-one==',
      expiresAtMs: clock.nowMs + hourMs,
    });
    const [request] = asked as [TokenRequest];
    expect([request.method, request.url, request.metadata]).toEqual(['POST', 'https://sts.eu-west-1.amazonaws.com/', undefined]);
    expect(Object.fromEntries(new URLSearchParams(request.body ?? ''))).toEqual({
      Version: '2011-06-15',
      Action: 'AssumeRole',
      RoleArn: role.aws_role_arn,
      RoleSessionName: 'svc-gateway',
      DurationSeconds: '3600',
      ExternalId: 'ours/7',
    });
    expect(findHeader(request.headers, 'authorization')).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20261121\/eu-west-1\/sts\/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=[0-9a-f]{64}$/,
    );
  });

  it('is fetched once for many calls, and cached', async () => {
    const { services, asked, clock } = fakeServices(() => roleReply('one', clock.nowMs + hourMs));
    const found = await Promise.all(Array.from({ length: 20 }, () => awsIdentity(role, keys(), services)));
    expect(new Set(found.map((identity) => identity.accessKeyId))).toEqual(new Set(['ASIAone']));
    clock.nowMs += hourMs / 2;
    expect(awsIdentity(role, keys(), services)).toMatchObject({ accessKeyId: 'ASIAone' });
    expect(asked).toHaveLength(1);
  });

  it('is renewed before it expires, while the old one still serves', async () => {
    const names = ['one', 'two'];
    const { services, asked, clock } = fakeServices(() => roleReply(names.shift() as string, clock.nowMs + hourMs));
    await awsIdentity(role, keys(), services);
    clock.nowMs += hourMs - 120_000;
    expect(awsIdentity(role, keys(), services)).toMatchObject({ accessKeyId: 'ASIAone' });
    await until(() => asked.length === 2);
    await until(async () => (await awsIdentity(role, keys(), services)).accessKeyId === 'ASIAtwo');
    expect(asked).toHaveLength(2);
  });

  it('is not shared between secrets or external ids of the same key id', async () => {
    const { services, asked, clock } = fakeServices(() => roleReply(`n${asked.length}`, clock.nowMs + hourMs));
    await awsIdentity(role, keys('right'), services);
    await awsIdentity(role, keys('wrong'), services);
    await awsIdentity({ ...role, aws_external_id: 'theirs' }, keys('right'), services);
    expect(asked).toHaveLength(3);
  });

  it('returns the status of the token service without its message if access is denied', async () => {
    const body =
      '<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>User: arn:aws:iam::1:user/x is not authorized</Message></Error></ErrorResponse>';
    const { services } = fakeServices(() => ({ status: 403, body }));
    await expect(awsIdentity(role, keys(), services)).rejects.toMatchObject({
      code: 'upstream_status',
      status: 403,
      message: 'The AWS role could not be assumed: AccessDenied',
      detail: 'User: arn:aws:iam::1:user/x is not authorized',
    });
  });

  it.each(['', '<AssumeRoleResponse/>', roleReply('x', 0).body.replace('1970', 'never')])(
    'is rejected when its reply cannot be read: %j',
    async (body) => {
      const { services } = fakeServices(() => ({ status: 200, body }));
      await expect(awsIdentity(role, keys(), services)).rejects.toMatchObject({ code: 'upstream_invalid' });
    },
  );

  it('is required by its mode: the error names the setting', () => {
    const { services } = fakeServices(() => ({ status: 500, body: '' }));
    expect(() => awsIdentity({ aws_auth_type: 'assumedRole' }, keys(), services)).toThrow('aws_role_arn is required');
  });
});

describe('session tags', () => {
  const tagged = { ...role, aws_session_tags: 'team, cost-center=project,absent' };
  const labels = { team: 'Größe 7', project: 'p-1', other: 'x' };

  it('hold the metadata that the settings name', async () => {
    const { services, asked, clock } = fakeServices(() => roleReply('one', clock.nowMs + hourMs));
    await awsIdentity(tagged, keys(), services, labels);
    expect(Object.fromEntries(new URLSearchParams(asked[0]?.body ?? ''))).toMatchObject({
      Action: 'AssumeRole',
      'Tags.member.1.Key': 'cost-center',
      'Tags.member.1.Value': 'p-1',
      'Tags.member.2.Key': 'team',
      'Tags.member.2.Value': 'Größe 7',
    });
    expect(asked[0]?.body).not.toContain('Tags.member.3');
  });

  it('are requested once per set, and each set has its own session', async () => {
    const { services, asked, clock } = fakeServices(() => roleReply(`n${asked.length}`, clock.nowMs + hourMs));
    const named = async (given: Record<string, string>) => (await awsIdentity(tagged, keys(), services, given)).accessKeyId;
    expect(await named({ team: 'a' })).toBe('ASIAn1');
    expect(await named({ team: 'b' })).toBe('ASIAn2');
    expect(await named({ project: 'a' })).toBe('ASIAn3');
    expect(await named({ team: 'a', other: 'y' })).toBe('ASIAn1');
    expect(await named({})).toBe('ASIAn4');
    expect(asked).toHaveLength(4);
  });

  it('are cached for 500 sets at most, and new ones do not evict roles without tags', async () => {
    const { services, asked, clock } = fakeServices(() => roleReply(`n${asked.length}`, clock.nowMs + hourMs));
    await awsIdentity(role, keys(), services);
    for (let i = 0; i <= 500; i++) await awsIdentity(tagged, keys(), services, { team: String(i) });
    expect(asked).toHaveLength(502);
    await awsIdentity(role, keys(), services);
    await awsIdentity(tagged, keys(), services, { team: '500' });
    expect(asked).toHaveLength(502);
    await awsIdentity(tagged, keys(), services, { team: '0' });
    expect(asked).toHaveLength(503);
  });

  it('are rejected if AWS does not accept the value, or without a session', () => {
    const { services, asked } = fakeServices(() => ({ status: 500, body: '' }));
    expect(() => awsIdentity(tagged, keys(), services, { team: 'a;b' })).toThrow(/Invalid metadata passed: team/);
    const own = { aws_auth_type: 'accessKey', aws_session_tags: 'team' };
    expect(() => awsIdentity(own, keys(), services, labels)).toThrow(/aws_session_tags: .*assumedRole/);
    expect(asked).toEqual([]);
  });

  it.each([
    ['team', true],
    ['a=b, c.d:e/f+g@h', true],
    ['', false],
    ['a,,b', false],
    ['aws:team', false],
    ['team, TEAM=other', false],
    [Array.from({ length: 51 }, (_, i) => `k${i}`).join(), false],
  ])('must be a list of names: %s', (list, ok) => {
    expect(v.safeParse(awsSettings.aws_session_tags.schema, list).success).toBe(ok);
  });
});

describe('the machine identity on AWS', () => {
  const expiration = '2026-11-21T18:00:00Z';
  const lent = (fields: JsonObject = {}) =>
    JSON.stringify({
      Code: 'Success',
      AccessKeyId: 'ASIAm',
      SecretAccessKey: 'ms',
      Token: 'mt',
      Expiration: expiration,
      ...fields,
    });
  const identity = { accessKeyId: 'ASIAm', secretAccessKey: 'ms', sessionToken: 'mt', expiresAtMs: Date.parse(expiration) };

  it('is not used unless the deployment allows it', async () => {
    const { services, asked } = fakeServices(() => ({ status: 200, body: lent() }));
    await expect(machineIdentity(services, 'us-east-1', {})).rejects.toMatchObject({ code: 'forbidden' });
    const own = { ...role, aws_auth_type: 'serviceRole' };
    await expect(awsIdentity(own, {}, services)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(awsIdentity(role, {}, services)).rejects.toMatchObject({ code: 'forbidden' });
    expect(asked).toEqual([]);
  });

  it('comes from the instance metadata with a session token', async () => {
    const { services, asked } = fakeServices(({ method, url }) => {
      if (method === 'PUT') return { status: 200, body: 'session\n' };
      return { status: 200, body: url.endsWith('/') ? 'gateway-role' : lent() };
    }, true);
    expect(await machineIdentity(services, 'us-east-1', {})).toEqual(identity);
    expect(asked.map(({ method, url, headers, metadata }) => [method, url, headers, metadata])).toEqual([
      ['PUT', 'http://169.254.169.254/latest/api/token', ['x-aws-ec2-metadata-token-ttl-seconds', '21600'], true],
      ...['', 'gateway-role'].map((name) => [
        'GET',
        `http://169.254.169.254/latest/meta-data/iam/security-credentials/${name}`,
        ['x-aws-ec2-metadata-token', 'session'],
        true,
      ]),
    ]);
  });

  it('comes from the container endpoint if the environment names one', async () => {
    const { services, asked } = fakeServices(() => ({ status: 200, body: lent() }), true);
    const uri = { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/credentials/1' };
    expect(await machineIdentity(services, 'us-east-1', uri)).toEqual(identity);
    expect(asked).toMatchObject([{ url: 'http://169.254.170.2/v2/credentials/1', headers: [], metadata: true }]);
  });

  it('comes from the identity agent of a pod, with the token in its file', async () => {
    const { services, asked } = fakeServices(() => ({ status: 200, body: lent() }), true);
    const environment = {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://169.254.170.23/v1/credentials',
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: tokenFile('pod-token\n'),
    };
    expect(await machineIdentity(services, 'us-east-1', environment)).toEqual(identity);
    expect(asked).toMatchObject([
      { url: 'http://169.254.170.23/v1/credentials', headers: ['authorization', 'pod-token'], metadata: true },
    ]);
  });

  it('is missing if the container endpoint is not one of AWS, and the log names the variable', async () => {
    const transport = createTransport({ trusted: [], machineIdentity: true });
    onTestFinished(() => transport.close());
    const parseUrl = () => ({ origin: '', path: '' });
    const services = createSignServices({ transport, parseUrl, now: Date.now, machineIdentity: true });
    for (const uri of ['http://127.0.0.1:9911/credentials', 'https://credentials.example.com/', 'nowhere']) {
      const environment = { AWS_CONTAINER_CREDENTIALS_FULL_URI: uri };
      await expect(machineIdentity(services, 'us-east-1', environment)).rejects.toMatchObject({
        ...{ code: 'unavailable', status: 503, message: 'This machine has no AWS identity' },
        detail: expect.stringContaining(`AWS_CONTAINER_CREDENTIALS_FULL_URI: got ${uri}, expected a URL of 169.254.170.2`),
      });
    }
  });

  it('comes from the identity agent of a pod over IPv6', async () => {
    const { services, asked } = fakeServices(() => ({ status: 200, body: lent() }), true);
    const uri = 'http://[fd00:ec2::23]/v1/credentials';
    const environment = { AWS_CONTAINER_CREDENTIALS_FULL_URI: uri, AWS_CONTAINER_AUTHORIZATION_TOKEN: 'pod-token' };
    expect(await machineIdentity(services, 'us-east-1', environment)).toEqual(identity);
    expect(asked).toMatchObject([{ url: uri, headers: ['authorization', 'pod-token'] }]);
  });

  it('comes from the token service for the web identity token of a service account', async () => {
    const until = Date.parse(expiration);
    const { services, asked } = fakeServices(() => roleReply('pod', until, 'AssumeRoleWithWebIdentity'), true);
    const environment = { AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile('a.b.c'), AWS_ROLE_ARN: role.aws_role_arn };
    expect(await machineIdentity(services, 'us-west-2', environment)).toMatchObject({
      accessKeyId: 'ASIApod',
      expiresAtMs: until,
    });
    const [request] = asked as [TokenRequest];
    expect(request.url).toBe('https://sts.us-west-2.amazonaws.com/');
    expect(findHeader(request.headers, 'authorization')).toBe(undefined);
    expect(Object.fromEntries(new URLSearchParams(request.body ?? ''))).toMatchObject({
      Action: 'AssumeRoleWithWebIdentity',
      RoleArn: role.aws_role_arn,
      WebIdentityToken: 'a.b.c',
    });
  });

  it('is reported as missing if no source responds', async () => {
    const { services } = fakeServices(() => ({ status: 404, body: '' }), true);
    await expect(machineIdentity(services, 'us-east-1', {})).rejects.toMatchObject({ code: 'unavailable' });
    const gone = { AWS_WEB_IDENTITY_TOKEN_FILE: '/nonexistent/token', AWS_ROLE_ARN: role.aws_role_arn };
    await expect(machineIdentity(services, 'us-east-1', gone)).rejects.toMatchObject({ code: 'unavailable' });
    const empty = fakeServices(() => ({ status: 200, body: '{}' }), true);
    const uri = { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/credentials/1' };
    await expect(machineIdentity(empty.services, 'us-east-1', uri)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

function tokenFile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-token-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'token'), text);
  return join(folder, 'token');
}
