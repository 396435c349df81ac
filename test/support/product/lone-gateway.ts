import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyPurposes } from '../../../core/contract/protocol/credentials/key-purposes.ts';
import type { ProviderDocument } from '../../../core/contract/protocol/documents.ts';
import { digestSecret, newApiKey } from '../../../core/contract/values/credentials/api-key.ts';
import { deriveKey } from '../../../core/contract/values/credentials/secret.ts';
import { organisationId, providerDocument, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';
import { type FakeControlPlane, startFakeControlPlane } from '../fakes/fake-control-plane.ts';
import { freePort } from '../processes/free-port.ts';
import { sampleKey } from '../samples/sample-documents.ts';
import { until } from '../until.ts';
import { productFile } from './product.ts';
import { cheapStartEnv } from './source-process.ts';

/** One gateway process and a control plane whose documents the test writes. */
export interface LoneGateway {
  readonly plane: FakeControlPlane;
  readonly baseUrl: string;
  readonly origin: string;
  readonly dataDir: string;
  /** The control plane's bearer, and the key that seals secrets in documents. */
  readonly clusterKeyText: string;
  readonly clusterKey: Uint8Array;
  readonly organisationId: string;
  /** The workspace's key. */
  readonly key: string;
  /** A stored provider of the one workspace. */
  putProvider(slug: string, type: string, document: Partial<ProviderDocument>): ProviderDocument;
  putConfig(slug: string, config: object): void;
  /** Makes a request with the workspace's key. An object as `body` is sent as JSON. */
  call(path: string, init?: { method?: string; headers?: Record<string, string>; body?: object }): Promise<Response>;
  /** Returns the output so far. */
  output(): string;
  /** Starts the process again with the data of the previous one. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export async function startLoneGateway(env: Readonly<Record<string, string>> = {}): Promise<LoneGateway> {
  const plane = await startFakeControlPlane();
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-lone-'));
  const encryptionKey = randomBytes(32);
  const clusterKey = randomBytes(32);
  const clusterKeyText = clusterKey.toString('base64');
  const key = newApiKey('ws');
  const document = sampleKey(key.id, {
    digest: digestSecret(deriveKey(encryptionKey, keyPurposes.apiKeyPepper), key.secret),
    ...{ organisationId, workspaceId },
  });
  plane.put('api-key', key.id, document);
  const workspace = { id: workspaceId, slug: 'main', organisationId, defaultConfigSlug: null, metadata: {} };
  plane.put('workspace', workspaceId, workspace);

  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  let printed = '';
  let child = await start();

  async function start() {
    const process_ = spawn(process.execPath, [await productFile('core/main')], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...{ PATH: process.env.PATH, HOST: '127.0.0.1', PORT: String(port), ROLE: 'gateway', DATA_DIR: dataDir },
        ...{ CONTROL_PLANE_URL: plane.url, ENCRYPTION_KEY: encryptionKey.toString('base64'), CLUSTER_KEY: clusterKeyText },
        ...{ TRUSTED_CUSTOM_HOSTS: '127.0.0.1', ...cheapStartEnv, ...env },
      },
    });
    for (const stream of [process_.stdout, process_.stderr]) {
      stream.on('data', (text: Buffer) => {
        printed += text;
      });
    }
    await until(
      async () => {
        if (process_.exitCode !== null) return 'ended';
        return (await fetch(`${origin}/ready`)).status === 200;
      },
      { deadlineMs: 30_000, what: 'a ready gateway' },
    );
    if (process_.exitCode !== null) throw new Error(`the gateway ended with ${process_.exitCode}\n${printed}`);
    return process_;
  }

  async function stop(): Promise<void> {
    if (child.exitCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  }

  return {
    plane,
    baseUrl: `${origin}/v1`,
    origin,
    dataDir,
    clusterKeyText,
    clusterKey,
    organisationId,
    key: key.text,
    putProvider(slug, type, changes) {
      const made = { ...providerDocument(slug, type), ...changes };
      plane.put('provider', `${workspaceId}/${slug}`, made);
      return made;
    },
    putConfig(slug, config) {
      const made = { id: slug, slug, versionId: slug, organisationId, workspaceId, config };
      plane.put('config', `${workspaceId}/${slug}`, made);
    },
    call(path, { method, headers, body } = {}) {
      return fetch(`${origin}/v1${path}`, {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: { 'x-svc-api-key': key.text, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    },
    output: () => printed,
    async restart() {
      await stop();
      child = await start();
    },
    async close() {
      await stop();
      await plane.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
