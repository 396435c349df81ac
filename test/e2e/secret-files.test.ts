import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startGateway } from '../support/product/start-gateway.ts';
import { until } from '../support/until.ts';

const token = 'metrics-token-of-a-secret-file';

it('a setting given as a file applies to the gateway and the control plane, also after the restart of a process', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'secret-files-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'metrics-token');
  writeFileSync(file, `${token}\n`);
  const gateway = await startGateway({ env: { METRICS_TOKEN_FILE: file } });
  onTestFinished(async () => void (await gateway.stop()));
  const statusAt = async (origin: string, headers: Record<string, string>) =>
    (await fetch(`${origin}/metrics`, { headers }).catch(() => null))?.status;
  for (const origin of [gateway.origin, gateway.controlPlaneUrl]) {
    expect(await statusAt(origin, {})).toBe(401);
    expect(await statusAt(origin, { authorization: `Bearer ${token}` })).toBe(200);
  }
  const [before] = gateway.pidsOf('gateway');
  process.kill(before as number, 'SIGKILL');
  await until(() => gateway.pidsOf('gateway').some((pid) => pid !== before));
  await until(async () => (await statusAt(gateway.origin, { authorization: `Bearer ${token}` })) === 200);
  expect(await statusAt(gateway.origin, {})).toBe(401);
});
