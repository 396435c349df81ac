import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { createObjectStore } from '../../../admin/object-store/create-object-store.ts';
import { type FakeBucket, startFakeBucket } from '../../support/fakes/fake-clouds/fake-bucket.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';

/** Issues temporary keys, as the container endpoint and the token service of AWS do. */
let lender: Server;
let lenderUrl: string;
/** Requests to the lender: method, path, and `authorization` or the form. */
const asked: string[] = [];
/** How long the next keys are valid, and whether there are any. */
let validMs = 3_600_000;
let status = 200;
let bucket: FakeBucket;
let directory: string;

beforeAll(async () => {
  bucket = await startFakeBucket('bucket-1');
  directory = await mkdtemp(join(tmpdir(), 's3-identity-'));
  lender = createServer(async (message, response) => {
    const body = await textOf(message);
    asked.push(`${message.method} ${message.url} ${message.headers.authorization ?? body}`);
    const number = asked.length;
    const [id, secret, token] = [`ASIALOAN${number}`, `secret-of-loan-${number}`, `token-of-loan-${number}`];
    bucket.loans.set(id, { secret, token });
    const expiration = new Date(Date.now() + validMs).toISOString();
    response.writeHead(status);
    if (message.method === 'GET') {
      response.end(JSON.stringify({ AccessKeyId: id, SecretAccessKey: secret, Token: token, Expiration: expiration }));
      return;
    }
    response.end(
      `<R><Credentials><AccessKeyId>${id}</AccessKeyId><SecretAccessKey>${secret}</SecretAccessKey><SessionToken>${token}</SessionToken>` +
        `<Expiration>${expiration}</Expiration></Credentials></R>`,
    );
  });
  await once(lender.listen(0, '127.0.0.1'), 'listening');
  lenderUrl = `http://127.0.0.1:${(lender.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await bucket.close();
  lender.closeAllConnections();
  await once(lender.close(), 'close');
  await rm(directory, { recursive: true, force: true });
});
beforeEach(() => {
  asked.length = 0;
  bucket.requests.length = 0;
  [validMs, status] = [3_600_000, 200];
  for (const name of ['AWS_WEB_IDENTITY_TOKEN_FILE', 'AWS_ROLE_ARN', 'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI'])
    vi.stubEnv(name, '');
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function open() {
  const place = { objectStore: 's3://bucket-1/logs', s3Endpoint: bucket.url, s3PathStyle: true, s3Region: 'us-east-1' };
  const direct = { httpsProxy: null, noProxy: [], trustedCustomHosts: [], controlPlaneUrl: 'http://127.0.0.1:1' };
  const settings = { ...place, ...direct, s3AccessKeyId: null, s3SecretAccessKey: null };
  const store = createObjectStore(settings, fetch, { elapsed: () => 0 }, newMemoryLog());
  if (!store) throw new Error('no store');
  return store;
}

/** A task or pod whose agent issues keys for a token in a file. */
async function inContainer(): Promise<void> {
  const file = join(directory, 'agent-token');
  await writeFile(file, 'agent-token-1');
  vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${lenderUrl}/v1/credentials`);
  vi.stubEnv('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE', file);
}

it('without S3_ACCESS_KEY_ID: uses the role of the task or pod, and its keys until shortly before their end', async () => {
  await inContainer();
  const store = open();
  await store.put('one', Buffer.from('x'));
  expect(await store.get('one')).toEqual(new Uint8Array(Buffer.from('x')));
  expect(asked).toEqual(['GET /v1/credentials agent-token-1']);
  // Keys that have ended are renewed before each request.
  validMs = 0;
  const brief = open();
  await brief.put('two', Buffer.from('y'));
  await brief.put('three', Buffer.from('z'));
  expect(asked).toHaveLength(3);
  expect([...bucket.objects.keys()]).toEqual(['logs/one', 'logs/two', 'logs/three']);
});

it('without S3_ACCESS_KEY_ID: exchanges the token of the Kubernetes service account for keys of its role', async () => {
  const file = join(directory, 'web-token');
  await writeFile(file, 'web-identity-token-1\n');
  vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', file);
  vi.stubEnv('AWS_ROLE_ARN', 'arn:aws:iam::123456789012:role/logs');
  const original = globalThis.fetch;
  vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) =>
    original(String(input).replace('https://sts.us-east-1.amazonaws.com', lenderUrl), init),
  );
  await open().put('of-a-pod', Buffer.from('x'));
  expect(bucket.requests).toEqual(['PUT logs/of-a-pod']);
  expect(asked).toHaveLength(1);
  const form = new URLSearchParams(asked[0]?.split(' ')[2]);
  expect(Object.fromEntries(form)).toMatchObject({
    Action: 'AssumeRoleWithWebIdentity',
    RoleArn: 'arn:aws:iam::123456789012:role/logs',
    WebIdentityToken: 'web-identity-token-1',
  });
});

it('a machine without an identity: the error names the setting, and the request is not sent', async () => {
  await inContainer();
  status = 500;
  await expect(open().put('none', Buffer.from('x'))).rejects.toMatchObject({
    name: 'ObjectStoreError',
    message: 'OBJECT_STORE: PUT none failed: This machine has no AWS identity',
  });
  expect(bucket.requests).toEqual([]);
});
