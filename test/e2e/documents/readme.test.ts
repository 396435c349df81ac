import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGateway, startGateway } from '../../support/product/start-gateway.ts';
import { until } from '../../support/until.ts';
import { type FakeUpstream, startFakeUpstream } from '../../support/upstream/fake-upstream.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
/** The code blocks of "Five minutes to a real provider", in order: keys, integration and provider, SDK, config, call. */
const blocks = [...(readme.split('## Five minutes')[1]?.split('\n## ')[0] ?? '').matchAll(/```(sh|js)\n(.*?)```/gs)].map(
  (match) => ({ language: match[1] as string, code: match[2] as string }),
);

let gateway: RunningGateway;
let upstream: FakeUpstream;
let folder: string;

beforeAll(async () => {
  [gateway, upstream] = await Promise.all([
    startGateway({ env: { BOOTSTRAP_BLOCK_INLINE_CONFIG: 'true' }, database: 'embedded' }),
    startFakeUpstream(),
  ]);
  // The commands read `.data/first-keys.json` of the working directory.
  folder = mkdtempSync(join(tmpdir(), 'readme-'));
  symlinkSync(gateway.dataDir, join(folder, '.data'));
});

afterAll(async () => {
  await gateway.stop();
  await upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a block unchanged, except for this gateway's port and the fake upstream instead of api.openai.com. */
async function type(block: number): Promise<string> {
  const here = (text: string): string =>
    text
      .replaceAll('http://127.0.0.1:8787', gateway.origin)
      .replace(
        '"create_default_provider": false',
        `"create_default_provider": false, "configurations": {"custom_host": "${upstream.openaiHost}"}`,
      );
  const { language, code } = blocks[block] as { language: string; code: string };
  const script = here(`${blocks[0]?.code}\n${language === 'sh' ? code : 'node --input-type=module -e "$CODE"'}`);
  const env = { ...process.env, OPENAI_API_KEY: 'sk-of-the-reader', CODE: here(code) };
  // The SDK is found from the folder with node_modules, the keys from the other one.
  const cwd = language === 'sh' ? folder : root;
  const keys = script.replaceAll("'./.data/", `'${folder}/.data/`);
  return (await run('bash', ['-euc', keys.replaceAll('curl ', 'curl -sS ')], { cwd, env })).stdout;
}

describe('the README walkthrough', () => {
  it('creates an integration and a provider', async () => {
    const [integration, provider] = (await type(1)).split('}{').map((part) => part.trim());
    expect(integration).toContain('"slug":"openai"');
    expect(provider).toContain('"slug":"openai-prod"');
  });

  it('calls it with the OpenAI SDK, streamed', async () => {
    const text = await type(2);
    const request = await upstream.nextRequest();
    expect(request.header('authorization')).toBe('Bearer sk-of-the-reader');
    expect(request.json()).toMatchObject({ model: 'gpt-4o-mini', stream: true });
    expect(text).toBe('You said: Say hello.');
  });

  it('saves a config with a fallback, which is used and recorded', async () => {
    expect(await type(3)).toContain('with-fallback');
    const reply = await type(4);
    expect(reply).toMatch(/^HTTP\/1\.1 200/);
    expect(reply).toMatch(/^x-svc-last-used-option-index: config\.targets\[1\]\r$/m);
    const traceId = /^x-svc-trace-id: (\S+)\r$/m.exec(reply)?.[1];
    const log = await until(async () => {
      const reply = await gateway.admin.get(`/logs/${traceId}`);
      return reply.status === 200 && JSON.stringify(reply.body);
    });
    expect(log).toContain('config.targets[1]');
  });
});
