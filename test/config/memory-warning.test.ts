import { expect, it } from 'vitest';
import { memoryWarning } from '../../config/memory-warning.ts';

const mebibyte = 1024 * 1024;

it.each<['all' | 'gateway' | 'control-plane', number, number]>([
  ['all', 1, 1024],
  ['all', 2, 1536],
  ['gateway', 2, 1024],
  ['control-plane', 2, 512],
])('memoryWarning: role %s with %i gateway processes needs %i MiB', (role, gatewayProcesses, least) => {
  expect(memoryWarning({ role, gatewayProcesses }, least * mebibyte)).toBe(null);
  expect(memoryWarning({ role, gatewayProcesses }, (least - 1) * mebibyte)).toContain(
    `got ${least - 1} MiB, expected at least ${least} MiB`,
  );
});

it('memoryWarning: counts one process in the singular', () => {
  expect(memoryWarning({ role: 'gateway', gatewayProcesses: 1 }, mebibyte)).toContain('at least 512 MiB for 1 process. ');
  expect(memoryWarning({ role: 'gateway', gatewayProcesses: 2 }, mebibyte)).toContain('at least 1024 MiB for 2 processes. ');
});
