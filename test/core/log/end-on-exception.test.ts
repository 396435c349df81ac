import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const module = (name: string): string => JSON.stringify(new URL(`../../../core/log/${name}.ts`, import.meta.url).href);

it.each([
  ['an exception in a timer', "setTimeout(() => { throw new Error('key sk-abcdefghijklmnopqrstuvwxyz123456'); }, 1)"],
  ['a rejection', "Promise.reject(new Error('key sk-abcdefghijklmnopqrstuvwxyz123456'))"],
])('%s that nothing catches ends the process with one line of JSON, without secrets', (_, code) => {
  const program = `
    import { createLog } from ${module('log')};
    import { endOnException } from ${module('end-on-exception')};
    endOnException(createLog({ level: 'info', format: 'json', name: 'test' }));
    ${code};
    setInterval(() => {}, 1000);`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', '--input-type=module', '-e', program], {
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([1, '']);
  expect(JSON.parse(stdout)).toMatchObject({
    level: 'error',
    reason: expect.stringMatching(/^key /),
    msg: 'uncaught exception; the process ends',
  });
  expect(stdout).not.toContain('sk-abcdefghijkl');
});
