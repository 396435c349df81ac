import { expect, it } from 'vitest';
import { bodyMemoryDefault } from '../../config/body-memory-default.ts';

const mebibyte = 1024 * 1024;

it.each([
  [24_000, 3, 512],
  [4096, 3, 388],
  [2048, 3, 160],
  [1024, 2, 112],
  [512, 3, 112],
])('bodyMemoryDefault: %i MiB for %i processes gives %i MiB for the bodies of each', (memory, processes, expected) => {
  expect(bodyMemoryDefault(memory * mebibyte, processes) / mebibyte).toBe(expected);
});
