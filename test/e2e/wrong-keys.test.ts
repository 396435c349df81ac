import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePorts } from '../support/processes/free-port.ts';
import { productFile } from '../support/product/product.ts';
import { type SharedGateway, shareGateway } from '../support/product/shared-gateway.ts';
import { cheapStartEnv } from '../support/product/source-process.ts';
import { until } from '../support/until.ts';

const program = await productFile('core/supervisor/main');

let main: SharedGateway;
let dataDir: string;
beforeAll(async () => {
  main = await shareGateway();
  dataDir = await mkdtemp(join(tmpdir(), 'svc-wrong-keys-'));
});
afterAll(async () => {
  await rm(dataDir, { recursive: true, force: true });
});

/** A second machine with only a gateway, which uses the control plane of the first. */
async function withGateway(env: Record<string, string>, work: (origin: string) => Promise<void>): Promise<void> {
  const [port] = (await freePorts(1)) as [number];
  const key = (file: string) => readFileSync(join(main.dataDir, file), 'utf8').trim();
  const child: ChildProcess = spawn(process.execPath, [program], {
    stdio: 'ignore',
    env: {
      PATH: process.env.PATH,
      ROLE: 'gateway',
      PORT: String(port),
      CONTROL_PLANE_URL: main.controlPlaneUrl,
      ENCRYPTION_KEY: key('encryption.key'),
      CLUSTER_KEY: key('cluster.key'),
      DATA_DIR: dataDir,
      GATEWAY_PROCESSES: '1',
      ...cheapStartEnv,
      ...env,
    },
  });
  try {
    await work(`http://127.0.0.1:${port}`);
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}

const readiness = (origin: string) =>
  until(
    async () => {
      const reply = await fetch(`${origin}/ready`).catch(() => null);
      return reply !== null && { status: reply.status, text: await reply.text() };
    },
    { deadlineMs: 50_000, what: 'a reply of /ready' },
  );
const call = async (origin: string) => {
  const reply = await fetch(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-svc-api-key': main.workspaceKey, 'content-type': 'application/json' },
    body: JSON.stringify({ model: '@mock/echo', messages: [{ role: 'user', content: 'hello' }] }),
  });
  await reply.arrayBuffer();
  return reply.status;
};
const other = () => randomBytes(32).toString('base64');

describe('a gateway whose key is not that of the control plane', () => {
  it.each(['ENCRYPTION_KEY', 'CLUSTER_KEY'])('%s: is not ready, names the key, and replies 503 instead of 401', (name) =>
    withGateway({ [name]: other() }, async (origin) => {
      const { status, text } = await readiness(origin);
      expect([status, text]).toEqual([503, expect.stringContaining(`${name}: `)]);
      expect(await call(origin)).toBe(503);
    }),
  );

  it('a gateway replies 503 instead of 401 before its first comparison with the control plane', async () => {
    const proxy = createServer((given, reply) => {
      if (given.url === '/internal/v1/key-check') {
        reply.writeHead(503).end();
        return;
      }
      const { method, headers } = given;
      given.pipe(
        request(`${main.controlPlaneUrl}${given.url}`, { method, headers }, (got) =>
          got.pipe(reply.writeHead(got.statusCode ?? 0)),
        ),
      );
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    // As after a replacement of ENCRYPTION_KEY: the digests of API keys need the pepper of the first one.
    const keys = { ENCRYPTION_KEY: other(), CONTROL_PLANE_URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
    await withGateway(keys, async (origin) => {
      expect((await readiness(origin)).status).toBe(200);
      expect(await call(origin)).toBe(503);
    });
    proxy.close();
    proxy.closeAllConnections();
  });

  it('with the right keys it is ready and serves', () =>
    withGateway({}, async (origin) => {
      expect(await until(async () => (await readiness(origin)).status === 200)).toBe(true);
      expect(await call(origin)).toBe(200);
    }));
});
