import { expect, test } from 'vitest';
import { runProgram } from './run-program.ts';

test('benchmark: measures the requested scenarios and prints its tables', async () => {
  const args = [
    '--seconds',
    '1',
    '--warm-up',
    '1',
    '--rounds',
    '1',
    '--only',
    'stream',
    '--against',
    'direct,bare',
    '--streams',
    '4',
    '--rest',
    '1',
  ];
  const { code, output } = await runProgram('main.ts', args);
  expect(code, output).toBe(0);
  expect(output).toMatch(/^\| bare uWebSockets\.js \+ undici proxy \| [\d,.]+ \| [\d,.]+ \| [\d,.]+ \| [\d,.]+ \| 1 \|/m);
  expect(output).toMatch(/^\| 4 \| steady \| upstream, nothing in between \| .* \| 0 \| 0 \|$/m);
  expect(output).toMatch(
    /RSS MiB after \| RSS MiB at rest \|\n.*\n\| bare uWebSockets\.js \+ undici proxy \| [\d.]+ \| [\d.]+ \| [\d.]+ \|$/m,
  );
}, 120_000);

test('benchmark: rejects unknown options with the list of known ones', async () => {
  const { code, output } = await runProgram('main.ts', ['--only', 'plane']);
  expect(code).toBe(2);
  expect(output).toContain(
    '--only: plane is none of plain, stream, long-stream, conversation, responses, vectors, pass-through, cached',
  );
});
