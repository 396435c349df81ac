import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../../support/processes/free-port.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabase } from '../../support/test-database.ts';

const run = promisify(execFile);

describe('npm run spend', () => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(ruleDatabase);
  });
  afterAll(() => plane?.close());

  it('prints the cost of yesterday by key and model, from the service at PORT', async () => {
    const { id } = (await plane.ask('GET', '/api-keys')).body.data[0];
    const yesterday = new Date(Date.now() - 86_400_000).toISOString();
    const tenant = { organisationId: plane.organisationId, workspaceId: plane.workspaceId, apiKeyId: id };
    await plane.internal('POST', '/records', [sampleRecord({ ...tenant, createdAt: yesterday, model: 'gpt-4o-mini' })]);
    const env = { ...process.env, PORT: new URL(plane.url).port, DATA_DIR: plane.settings.dataDir, NO_COLOR: '1' };
    const { stdout } = await run(process.execPath, ['core/cli/spend.ts'], { env });
    expect(stdout).toContain('gpt-4o-mini');
    expect(stdout).toContain(id);
    expect(stdout).toContain('0.000045');
  });

  it('asks the address that the first start wrote to first-keys.json if neither SVC_URL nor PORT is set', async () => {
    const path = join(plane.settings.dataDir, 'first-keys.json');
    const keys = JSON.parse(await readFile(path, 'utf8'));
    await writeFile(path, JSON.stringify({ ...keys, base_url: `${plane.url}/v1` }));
    const { SVC_URL: _, PORT: __, ...env } = process.env;
    const { stdout } = await run(process.execPath, ['core/cli/spend.ts', '--from', '2026-01-01', '--to', '2026-01-02'], {
      env: { ...env, DATA_DIR: plane.settings.dataDir },
    });
    expect(stdout).toContain('no requests from 2026-01-01');
  });

  it('takes days, and names the range if it is empty', async () => {
    const env = { ...process.env, SVC_URL: plane.url, DATA_DIR: plane.settings.dataDir };
    const { stdout } = await run(process.execPath, ['core/cli/spend.ts', '--from', '2026-01-01', '--to', '2026-01-02'], { env });
    expect(stdout).toMatch(
      /^no requests from 2026-01-01T00:00:00.000Z to 2026-01-02T00:00:00.000Z; for today: .* --from \d{4}-\d\d-\d\d\n$/,
    );
    const bad = run(process.execPath, ['core/cli/spend.ts', '--from', 'monday'], { env });
    await expect(bad).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('--from: got monday, expected') });
  });

  it('names the address and the setting if the service cannot be reached', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const env = { ...process.env, SVC_URL: url, SVC_ADMIN_KEY: 'any' };
    const stderr = `SVC_URL: ${url} cannot be reached (ECONNREFUSED). Start the service, or set SVC_URL to its address\n`;
    await expect(run(process.execPath, ['core/cli/spend.ts'], { env })).rejects.toMatchObject({ code: 2, stderr });
    const wrong = run(process.execPath, ['core/cli/spend.ts'], { env: { ...env, SVC_URL: '127.0.0.1' } });
    const expected = 'SVC_URL: got 127.0.0.1, expected a URL such as http://127.0.0.1:8787\n';
    await expect(wrong).rejects.toMatchObject({ code: 2, stderr: expected });
  });

  it('prints the reason if the key is rejected', async () => {
    const env = { ...process.env, SVC_URL: plane.url, SVC_ADMIN_KEY: 'wrong' };
    await expect(run(process.execPath, ['core/cli/spend.ts'], { env })).rejects.toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('401') },
    });
  });
});
