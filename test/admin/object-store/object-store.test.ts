import dns from 'node:dns';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createObjectStore, tryObjectStore } from '../../../admin/object-store/create-object-store.ts';
import type { ObjectStore } from '../../../admin/object-store/object-store.ts';
import { bucketKeys, type FakeBucket, startFakeBucket } from '../../support/fakes/fake-clouds/fake-bucket.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';

let bucket: FakeBucket;
let directory: string;
let nowMs = 0;
let log = newMemoryLog();

beforeAll(async () => {
  const lookup = dns.lookup;
  // Resolves `bucket-1.localhost`, which not every machine does.
  vi.spyOn(dns, 'lookup').mockImplementation(((host: string, ...rest: unknown[]) =>
    (lookup as (...all: unknown[]) => void)(host.endsWith('localhost') ? '127.0.0.1' : host, ...rest)) as typeof lookup);
  bucket = await startFakeBucket('bucket-1');
  directory = await mkdtemp(join(tmpdir(), 'objects-'));
});
afterAll(async () => {
  vi.restoreAllMocks();
  await bucket.close();
  await rm(directory, { recursive: true, force: true });
});
beforeEach(() => {
  bucket.trouble = null;
  bucket.requests.length = 0;
  log = newMemoryLog();
});

const s3 = {
  ...{ httpsProxy: null, noProxy: [], trustedCustomHosts: [], controlPlaneUrl: 'http://127.0.0.1:1' },
  s3Region: 'us-east-1',
  s3AccessKeyId: bucketKeys.S3_ACCESS_KEY_ID,
  s3SecretAccessKey: bucketKeys.S3_SECRET_ACCESS_KEY,
};

function open(kind: string, changes: object = {}): ObjectStore {
  const place = {
    directory: { ...s3, objectStore: pathToFileURL(directory).href, s3Endpoint: null, s3PathStyle: false },
    'bucket, path style': { ...s3, objectStore: 's3://bucket-1/logs', s3Endpoint: bucket.url, s3PathStyle: true },
    'bucket, virtual-hosted': {
      ...s3,
      objectStore: 's3://bucket-1/logs',
      s3Endpoint: `http://localhost:${bucket.port}`,
      s3PathStyle: false,
    },
  }[kind];
  if (!place) throw new Error(kind);
  return createObjectStore({ ...place, ...changes }, fetch, { elapsed: () => nowMs }, log) as ObjectStore;
}

describe.each(['directory', 'bucket, path style', 'bucket, virtual-hosted'])('object store: %s', (kind) => {
  it('stores, replaces, reads whole and in parts, and removes', async () => {
    const store = open(kind);
    const bytes = Buffer.from('0123456789');
    await store.put('bodies/a-1/b_2.x', Buffer.from('first'));
    await store.put('bodies/a-1/b_2.x', bytes);
    expect(Buffer.from((await store.get('bodies/a-1/b_2.x')) ?? [])).toEqual(bytes);
    expect(Buffer.from((await store.get('bodies/a-1/b_2.x', { offset: 3, length: 4 })) ?? []).toString()).toBe('3456');
    expect(Buffer.from((await store.get('bodies/a-1/b_2.x', { offset: 8, length: 4 })) ?? []).toString()).toBe('89');
    await store.remove('bodies/a-1/b_2.x');
    expect(await store.get('bodies/a-1/b_2.x')).toBeNull();
    await store.remove('bodies/a-1/b_2.x');
  });
});

describe('directory', () => {
  it('is readable by this user only, and keeps no temporary files or empty folders', async () => {
    const store = open('directory');
    await store.put('exports/one/part', Buffer.from('text'));
    expect((await stat(join(directory, 'exports/one/part'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(directory, 'exports/one'))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(directory, 'exports/one'))).toEqual(['part']);
    await store.remove('exports/one/part');
    expect(await readdir(directory)).toEqual([]);
  });

  it('names the setting if the directory cannot be written', async () => {
    const file = join(directory, 'file');
    await writeFile(file, '');
    const store = open('directory', { objectStore: pathToFileURL(file).href });
    await expect(store.put('a/b', Buffer.from('x'))).rejects.toThrow(/^OBJECT_STORE: .*ENOTDIR/);
    await rm(file);
  });
});

describe('bucket', () => {
  it.each([
    ['two cut connections', ['cut', 'cut']],
    ['two busy replies', ['busy', 'busy']],
  ] as const)('repeats a request after %s', async (_what, trouble) => {
    bucket.trouble = [...trouble];
    await open('bucket, path style').put('repeated', Buffer.from('x'));
    expect(bucket.requests).toEqual(['PUT logs/repeated', 'PUT logs/repeated', 'PUT logs/repeated']);
  });

  it.each([
    ['cut', 3, /ECONNRESET|UND_ERR_SOCKET/],
    ['busy', 3, /status 503 \(SlowDown\)/],
    ['denied', 1, /status 403 \(AccessDenied\)/],
  ] as const)('%s: rejects after %i attempts, without the secret', async (trouble, attempts, reason) => {
    bucket.trouble = trouble;
    const error = await open('bucket, path style')
      .get('missing')
      .then(
        () => null,
        (thrown: Error) => thrown,
      );
    expect(error).toMatchObject({
      name: 'ObjectStoreError',
      message: expect.stringMatching(/^OBJECT_STORE: GET missing failed: /),
    });
    expect(error?.message).toMatch(reason);
    expect(error?.message).not.toContain(bucketKeys.S3_SECRET_ACCESS_KEY);
    expect(bucket.requests).toHaveLength(attempts);
  });

  it('a wrong secret is rejected by the server', async () => {
    const store = open('bucket, path style', { s3SecretAccessKey: 'another secret' });
    await expect(store.put('signed', Buffer.from('x'))).rejects.toThrow('SignatureDoesNotMatch');
  });

  it('a missing bucket, or a server without it, is an error and not a missing object, whose row could be deleted', async () => {
    const store = open('bucket, path style', { objectStore: 's3://bucket-2/logs' });
    const reason = /^OBJECT_STORE: (?:GET|DELETE|PUT) a failed: status 404 \(NoSuchBucket\)$/;
    await expect(store.get('a')).rejects.toThrow(reason);
    await expect(store.remove('a')).rejects.toThrow(reason);
    await expect(store.put('a', Buffer.from('x'))).rejects.toThrow(reason);
    bucket.trouble = 'elsewhere';
    const other = open('bucket, path style');
    await expect(other.get('a')).rejects.toThrow(/^OBJECT_STORE: GET a failed: status 404$/);
    await expect(other.remove('a')).rejects.toThrow(/^OBJECT_STORE: DELETE a failed: status 404$/);
  });

  it('the error of a wrong S3_REGION names the region of the bucket', async () => {
    bucket.trouble = 'other region';
    const reason = 'status 400 (AuthorizationHeaderMalformed). The bucket is in eu-west-1: set S3_REGION to it';
    await expect(open('bucket, path style').get('a')).rejects.toThrow(`OBJECT_STORE: GET a failed: ${reason}`);
  });

  it('fails writes at once for 30 s after a failed one, and logs the change once', async () => {
    const store = open('bucket, path style');
    bucket.trouble = 'denied';
    await expect(store.put('a', Buffer.from('x'))).rejects.toThrow('AccessDenied');
    bucket.trouble = null;
    nowMs += 29_999;
    await expect(store.put('a', Buffer.from('x'))).rejects.toThrow('the last write failed');
    expect(bucket.requests).toEqual(['PUT logs/a']);
    nowMs += 1;
    await store.put('a', Buffer.from('x'));
    expect(log.lines.map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'cannot write to the object store; bodies wait in the database'],
      ['info', 'writes to the object store succeed again'],
    ]);
  });
});

describe('reads', () => {
  it('a failure of reads is logged once, with the reason, until one succeeds', async () => {
    const store = open('bucket, path style');
    await store.put('a', Buffer.from('x'));
    bucket.trouble = 'denied';
    await expect(store.get('a')).rejects.toThrow('AccessDenied');
    await expect(store.get('a', { offset: 0, length: 1 })).rejects.toThrow('AccessDenied');
    bucket.trouble = null;
    await store.get('a');
    await store.get('a');
    expect(log.lines).toEqual([
      {
        level: 'warn',
        message: 'cannot read from the object store; logs are shown without bodies, and exports wait',
        fields: { reason: 'OBJECT_STORE: GET a failed: status 403 (AccessDenied)' },
      },
      { level: 'info', message: 'reads from the object store succeed again', fields: {} },
    ]);
  });

  it('are tried at the start, because keys may have the permission to write alone', async () => {
    bucket.trouble = [null, 'denied', null];
    await tryObjectStore(open('bucket, path style'));
    expect(bucket.requests).toEqual(['PUT logs/start-check', 'GET logs/start-check', 'DELETE logs/start-check']);
    expect(log.lines).toMatchObject([{ fields: { reason: 'OBJECT_STORE: GET start-check failed: status 403 (AccessDenied)' } }]);
  });
});

describe('tryObjectStore', () => {
  it.each(['directory', 'bucket, path style'])('leaves nothing in a usable %s', async (kind) => {
    await tryObjectStore(open(kind));
    expect(log.lines).toEqual([]);
    expect(await readdir(directory)).toEqual([]);
    expect(await open(kind).get('start-check')).toBeNull();
  });

  it.each([
    ['directory', { objectStore: 'file:///dev/null/objects' }, 'ENOTDIR'],
    ['directory', { objectStore: 'file:///proc/nope' }, 'ENOENT'],
    ['bucket, path style', { s3SecretAccessKey: 'another secret' }, 'SignatureDoesNotMatch'],
  ])('logs why a %s cannot be used', async (kind, changes, reason) => {
    await tryObjectStore(open(kind, changes));
    expect(log.lines).toEqual([
      {
        level: 'warn',
        message: 'cannot write to the object store; bodies wait in the database',
        fields: { reason: expect.stringMatching(`^OBJECT_STORE: .*${reason}`) },
      },
    ]);
  });
});

it('no OBJECT_STORE: no store', () => {
  const settings = { ...s3, objectStore: null, s3Endpoint: null, s3PathStyle: false };
  expect(createObjectStore(settings, fetch, { elapsed: () => 0 }, log)).toBeNull();
});
