import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FirstKeys } from '../../../admin/bootstrap/first-start.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { until, within } from '../../support/until.ts';
import { type ChildPlane, forkPlane } from '../support/child-plane.ts';
import { copyEmptyDatabase } from '../support/pgdata-template.ts';

describe('the control plane as a process on the embedded database', () => {
  let dataDir: string;
  let env: Record<string, string>;
  let keys: FirstKeys;
  const children: ChildPlane[] = [];
  /** The process that runs. Each start takes seconds of CPU, so a test continues with the process of the one before. */
  let child: ChildPlane;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'svc-admin-'));
    await copyEmptyDatabase(dataDir);
    const key = () => randomBytes(32).toString('base64');
    env = {
      DATA_DIR: dataDir,
      ROLE: 'control-plane',
      ENCRYPTION_KEY: key(),
      CLUSTER_KEY: key(),
      CONTROL_PLANE_PORT: String(await freePort()),
    };
  });
  afterAll(async () => {
    for (const child of children) child.process.kill('SIGKILL');
    if (dataDir) await rm(dataDir, { recursive: true, force: true });
  });

  const start = async () => {
    const child = await forkPlane(env);
    children.push(child);
    return child;
  };
  const url = () => `http://127.0.0.1:${env.CONTROL_PLANE_PORT}`;
  const ask = async (method: string, path: string, body?: unknown) => {
    const headers = { 'x-svc-api-key': keys.admin_key, 'content-type': 'application/json' };
    const reply = await fetch(
      `${url()}/v1${path}`,
      body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) },
    );
    return { status: reply.status, body: (await reply.json()) as Record<string, never> };
  };

  it('reports its first keys once and writes them for the owner only', async () => {
    child = await start();
    await within(child.ready, 'the first start', 60_000);
    keys = JSON.parse(await readFile(join(dataDir, 'first-keys.json'), 'utf8')) as FirstKeys;
    expect((await stat(join(dataDir, 'first-keys.json'))).mode & 0o777).toBe(0o600);
    expect(child.messages.map((one) => one.type)).toEqual(expect.arrayContaining(['first-start', 'ready']));
    expect(child.messages.find((one) => one.type === 'first-start')).toMatchObject({ ...keys });
    await until(() => child.messages.some((one) => one.type === 'svc.changes'), { what: 'a change notice' });
    expect((await ask('GET', '/configs')).status).toBe(200);
    expect(child.output.join('')).not.toContain(keys.admin_key.slice(10, 40));
  });

  it('keeps every acknowledged change after kills and after the end of its parent', async () => {
    const acknowledged: string[] = [];
    const kills = process.env.LONG_TESTS ? 5 : 1;
    for (let round = 0; round <= kills; round++) {
      let sent = 0;
      let enough: () => void = () => {};
      const tenMore = new Promise<void>((resolve) => {
        enough = resolve;
      });
      const writer = async (lane: number) => {
        for (;;) {
          const slug = `r${round}-${lane}-${sent++}`;
          const reply = await ask('POST', '/configs', { name: slug, slug, config: { provider: '@mock' } }).catch(() => null);
          if (reply?.status !== 200) return;
          acknowledged.push(slug);
          if (acknowledged.length >= (round + 1) * 10) enough();
        }
      };
      const writers = [0, 1, 2, 3].map(writer);
      await within(tenMore, 'ten changes', 30_000);
      if (round < kills) child.process.kill('SIGKILL');
      else child.process.disconnect();
      await Promise.all(writers);
      expect(await within(child.ended, `the end of round ${round}`)).toBe(round < kills ? 'SIGKILL' : 0);
      child = await start();
      await within(child.ready, `the start after round ${round}`, 60_000);
      expect(child.messages.some((one) => one.type === 'first-start')).toBe(false);
    }
    for (const slug of acknowledged) expect((await ask('GET', `/configs/${slug}`)).status, slug).toBe(200);
    const changes = await fetch(`${url()}/internal/v1/changes?after=0`, {
      headers: { authorization: `Bearer ${env.CLUSTER_KEY}` },
    });
    const { revision, changes: all } = (await changes.json()) as {
      revision: number;
      changes: { revision: number; id: string }[];
    };
    expect(all.map((one) => one.revision)).toEqual(Array.from({ length: revision }, (_, index) => index + 1));
    for (const slug of acknowledged)
      expect(
        all.some((one) => one.id.endsWith(`/${slug}`)),
        slug,
      ).toBe(true);
  }, 180_000);

  it('ends with 78 and one line if its settings cannot work', async () => {
    const other = join(dataDir, 'other');
    const wrongKey = await forkPlane({ ...env, DATA_DIR: other, BOOTSTRAP_ADMIN_KEY: 'secret-but-wrong' });
    children.push(wrongKey);
    expect(await within(wrongKey.ended, 'the refusal', 60_000)).toBe(78);
    expect(wrongKey.output.join('')).toContain('BOOTSTRAP_ADMIN_KEY');
    expect(wrongKey.output.join('')).not.toContain('secret-but-wrong');
    // It ends before it creates a database.
    await expect(stat(join(other, 'pgdata'))).rejects.toMatchObject({ code: 'ENOENT' });
    await copyEmptyDatabase(join(dataDir, 'third'));
    const samePort = await forkPlane({ ...env, DATA_DIR: join(dataDir, 'third') });
    children.push(samePort);
    expect(await within(samePort.ended, 'the refusal', 60_000)).toBe(78);
    expect(samePort.output.join('')).toContain('CONTROL_PLANE_PORT');
  });

  it('ends on SIGTERM with 0', async () => {
    child.process.kill('SIGTERM');
    expect(await within(child.ended, 'the end')).toBe(0);
  });
});
