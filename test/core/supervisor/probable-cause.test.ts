import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createProbableCause } from '../../../core/supervisor/probable-cause.ts';

const folder = mkdtempSync(join(tmpdir(), 'probable-cause-'));
const file = join(folder, 'vmstat');
const count = (kills: number) => writeFileSync(file, `pgmajfault 12\noom_kill ${kills}\nnuma_hit 4\n`);
const killed = { signal: 'SIGKILL', wasKilled: false };
let nowMs = 0;
const clock = { elapsed: () => nowMs };
afterAll(() => rmSync(folder, { recursive: true }));

it('SIGKILL has the kernel as its cause only if the kernel has counted a kill for lack of memory since the last one', () => {
  count(3);
  const causeOf = createProbableCause(clock, file);
  expect(causeOf(killed).probableCause).toMatch(/^another process killed it/);
  count(4);
  for (let i = 0; i < 2; i++) expect(causeOf(killed).probableCause).toMatch(/^the kernel killed it because memory was short\./);
  nowMs += 5_000;
  expect(causeOf(killed).probableCause).toMatch(/^another process killed it/);
});

it('SIGKILL has both causes if the system does not count', () => {
  const causeOf = createProbableCause(clock, join(folder, 'none'));
  expect(causeOf(killed).probableCause).toMatch(/^the kernel killed it .*or another process killed it$/);
});

it('a kill by the supervisor, another signal and an exit have no cause', () => {
  const causeOf = createProbableCause(clock, file);
  expect(causeOf({ signal: 'SIGKILL', wasKilled: true })).toEqual({});
  expect(causeOf({ signal: 'SIGSEGV', wasKilled: false })).toEqual({});
  expect(causeOf({ signal: null, wasKilled: false })).toEqual({});
  expect(causeOf({ signal: 'SIGABRT', wasKilled: false }).probableCause).toMatch(/heap was full/);
});
