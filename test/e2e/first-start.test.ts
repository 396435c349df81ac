import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cheapStartEnv } from '../support/product/source-process.ts';
import { startGateway } from '../support/product/start-gateway.ts';

const preload = new URL('../support/product/listening-when-code-is-stored.ts', import.meta.url).href;

it('a process accepts no connection before its compiled code is stored, because it could not reply meanwhile', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-first-start-'));
  const report = join(folder, 'report');
  const gateway = await startGateway({
    env: { STORED_CODE_REPORT: report, NODE_OPTIONS: `${cheapStartEnv.NODE_OPTIONS ?? ''} --import=${preload}` },
  });
  await gateway.stop();
  const lines = (await readFile(report, 'utf8')).trim().split('\n');
  await rm(folder, { recursive: true });
  expect(lines.sort()).toEqual(['control-plane', 'gateway']);
});
