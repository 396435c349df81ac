import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nodeVersionIssue } from '../../../config/node-version.ts';

it.each(['22.19.0', '22.23.5'])('Node %s is supported', (version) => {
  expect(nodeVersionIssue(version)).toBeNull();
});

it.each(['18.20.8', '20.20.2', '22.18.0', '24.1.0'])('Node %s is refused with the versions that work', (version) => {
  expect(nodeVersionIssue(version)).toContain(`got v${version}, expected 22.19 or a later 22,`);
});

it('the supervisor starts no process under another version of Node, and ends with the code for settings that cannot work', () => {
  const preload = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })";
  const main = join(import.meta.dirname, '../../../core/supervisor/main.ts');
  const flags = ['--disable-warning=ExperimentalWarning', '--import', `data:text/javascript,${encodeURIComponent(preload)}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, main], { encoding: 'utf8' });
  expect([status, stdout, stderr]).toEqual([78, '', `${nodeVersionIssue('20.20.2')}\n`]);
});
