import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runPrompts } from '../../../../core/cli/prompts/run-prompts.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabase } from '../../support/test-database.ts';

describe('npm run prompts', () => {
  let plane: Plane;
  let folder: string;
  beforeAll(async () => {
    plane = await startPlane(ruleDatabase);
    await plane.ask('POST', '/integrations', { body: { name: 'Mock', slug: 'mock-two', ai_provider_id: 'openai', key: 'k' } });
  });
  afterAll(() => plane?.close());
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'prompts-'));
    for (const name of ['prompts', 'partials']) mkdirSync(join(folder, name));
    return () => rmSync(folder, { recursive: true, force: true });
  });

  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  async function run(command: 'plan' | 'apply'): Promise<{ code: number; lines: string[] }> {
    const lines: string[] = [];
    const access = { url: plane.url, key: plane.adminKey, workspaceId: plane.workspaceId };
    const code = await runPrompts(command, folder, access, (line) => lines.push(line)).catch((error: AggregateError) => {
      lines.push(...error.errors.map(({ message }: Error) => message));
      return 2;
    });
    return { code, lines };
  }
  const read = async (path: string) => (await plane.ask('GET', path)).body;
  const messages = '  - role: system\n    content: "{{>pp-tone}}"\n  - role: user\n    content: Hello {{name}}\n';

  it('plan prints the differences and changes nothing; apply makes them once', async () => {
    write('labels.yaml', '- name: canary\n  description: early users\n');
    write('partials/pp-tone.yaml', 'name: Tone\ntext: |\n  Be kind to {{name}}.\n');
    const prompt = (more = '') =>
      write(
        'prompts/pp-hello.yaml',
        `name: Hello\nmodel: gpt-5\nvirtual_key: mock\nlabels: [canary]\n${more}messages:\n${messages}`,
      );
    prompt();
    const planned = [
      ...['labels.yaml canary: create', 'partials/pp-tone.yaml: create', 'prompts/pp-hello.yaml: create, label canary'],
    ];
    expect(await run('plan')).toEqual({ code: 0, lines: [...planned, '3 to change, 0 unchanged'] });
    expect((await plane.ask('GET', '/prompts/pp-hello')).status).toBe(404);
    expect(await run('apply')).toEqual({ code: 0, lines: [...planned, '3 changed, 0 unchanged'] });
    expect(await read('/prompts/pp-hello')).toMatchObject({
      name: 'Hello',
      model: 'gpt-5',
      virtual_key: 'mock',
      prompt_version: 1,
    });
    expect((await read('/prompts/pp-hello@canary')).string).toBe(
      JSON.stringify([
        { role: 'system', content: '{{>pp-tone}}' },
        { role: 'user', content: 'Hello {{name}}' },
      ]),
    );
    const entries = await plane.auditCount();
    const same = ['labels.yaml canary: unchanged', 'partials/pp-tone.yaml: unchanged', 'prompts/pp-hello.yaml: unchanged'];
    expect(await run('apply')).toEqual({ code: 0, lines: [...same, '0 changed, 3 unchanged'] });
    expect(await plane.auditCount()).toBe(entries);

    prompt('parameters: { max_tokens: 9 }\ndescription: shorter\n');
    write('partials/pp-tone.yaml', 'name: Tone of all\npublish: false\ntext: Be very kind.\n');
    const lines = [
      'labels.yaml canary: unchanged',
      'partials/pp-tone.yaml: new version, name',
      'prompts/pp-hello.yaml: new version (parameters), publish, label canary',
    ];
    expect(await run('plan')).toEqual({ code: 0, lines: [...lines, '2 to change, 1 unchanged'] });
    expect(await run('apply')).toEqual({ code: 0, lines: [...lines, '2 changed, 1 unchanged'] });
    expect(await read('/prompts/pp-hello')).toMatchObject({ prompt_version: 2, prompt_version_description: 'shorter' });
    expect(await read('/prompts/partials/pp-tone')).toMatchObject({ name: 'Tone of all', version: 1 });
    const labels = (await read('/prompts/pp-hello/labels')).data;
    expect(labels).toMatchObject([{ name: 'canary', versions: [{ version: 2 }], previous_versions: [{ version: 1 }] }]);
    expect((await run('plan')).lines.at(-1)).toBe('0 to change, 3 unchanged');
  });

  it('errors name file and line, also those of the service, and other files are applied', async () => {
    write('partials/pp-a.yaml', 'name: A\ntext: |\n  fine\n  {{#open}}\n');
    write('prompts/pp-b.yaml', `name: B\nmodel: gpt-5\nmessages:\n${messages}  - role: user\n    content: "{{broken"\n`);
    write('prompts/pp-c.yaml', 'name: C\ntext: hi\nmodle: gpt-5\n');
    write('prompts/pp-d.yaml', 'name: D\ntext: [unclosed\n');
    write('prompts/pp-e.yaml', 'name: E\n');
    write('prompts/pp-f.yaml', 'name: F\ntext: 7\n');
    const { code, lines } = await run('apply');
    expect(code).toBe(2);
    expect(lines).toEqual([
      expect.stringMatching(/^partials\/pp-a\.yaml:5: text: line 3, column 1: Unclosed section "open"/),
      expect.stringMatching(/^prompts\/pp-b\.yaml:8: messages\[2\]: /),
      'prompts/pp-c.yaml:3: modle: unknown member',
      expect.stringMatching(/^prompts\/pp-d\.yaml:\d: /),
      'prompts/pp-e.yaml:1: file: one of messages, text and raw is expected',
      'prompts/pp-f.yaml:2: text: expected string, received number',
    ]);
    for (const name of ['pp-b', 'pp-c', 'pp-d', 'pp-e']) rmSync(join(folder, `prompts/${name}.yaml`));
    rmSync(join(folder, 'partials/pp-a.yaml'));
    write('prompts/pp-f.yaml', 'name: F\ntext: hi\nvirtual_key: nobody\n');
    write(
      'prompts/pp-g.yaml',
      'name: G\nraw: |\n  [{{#all}}{"role":"user","content":"{{.}}"},{{/all}}{"role":"user","content":"end"}]\n',
    );
    expect(await run('apply')).toEqual({
      code: 2,
      lines: [
        'prompts/pp-f.yaml:3: error: virtual_key: Provider not found',
        'prompts/pp-g.yaml: create',
        '1 changed, 0 unchanged, 1 failed',
      ],
    });
    expect(await read('/prompts/pp-g')).toMatchObject({ is_raw_template: 1 });
  });

  it('is a command with the first keys, and prints its usage', async () => {
    write('prompts/pp-hi.yaml', 'name: Hi\ntext: Hi {{name}}\n');
    const env = { ...process.env, SVC_URL: plane.url, DATA_DIR: plane.settings.dataDir };
    const execute = (...args: string[]) => promisify(execFile)(process.execPath, ['core/cli/prompts/main.ts', ...args], { env });
    expect((await execute('plan', folder)).stdout).toBe('prompts/pp-hi.yaml: create\n1 to change, 0 unchanged\n');
    await expect(execute('destroy', folder)).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('plan|apply DIR'),
    });
  });
});
