import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { toHeld } from '../../../core/contract/plugin/sessions/held-messages.ts';
import type { SessionMessage } from '../../../core/contract/plugin/sessions/web-socket.ts';
import type { Maybe } from '../../../core/contract/values/maybe.ts';
import { Inspection } from '../../../core/realtime/inspection.ts';
import { Reading } from '../../../core/realtime/reading.ts';
import { newGate } from '../../support/gate.ts';
import { until } from '../../support/until.ts';

const message = (text: string): SessionMessage => ({ data: Buffer.from(text), isBinary: false, isFromClient: true });

function inspecting(inspect: () => Maybe<undefined>) {
  const calls: string[] = [];
  const decided: string[] = [];
  const reading = new Reading({ pause: () => calls.push('pause'), resume: () => calls.push('resume') }, () => calls.push('read'));
  const inspection = new Inspection(reading, {
    inspect,
    decided: ({ data }) => decided.push(Buffer.from(data).toString()),
    failed: (cause) => decided.push(String(cause)),
  });
  return { inspection, reading, calls, decided };
}

it('inspection: pauses a sender of many small messages while a verdict is pending, and resumes it afterwards', async () => {
  const verdict = newGate<undefined>();
  let isFirst = true;
  const { inspection, calls, decided } = inspecting(() => {
    if (!isFirst) return undefined;
    isFirst = false;
    return verdict.opened;
  });
  let sent = 0;
  while (calls.length === 0 && sent < 100_000) inspection.push(message(String(sent++)));
  expect(sent).toBeLessThan(4_000);
  expect(inspection.waitingBytes).toBeGreaterThan(256 * 1024);
  verdict.open(undefined);
  await until(() => decided.length === sent);
  expect(calls).toEqual(['pause', 'resume', 'read']);
  expect(decided).toEqual(Array.from({ length: sent }, (_, index) => String(index)));
  expect(inspection.waitingBytes).toBe(0);
});

it('inspection: lets the event loop turn while it inspects messages that waited', async () => {
  const verdict = newGate<undefined>();
  let count = 0;
  const { inspection, decided } = inspecting(() => {
    if (count++ === 0) return verdict.opened;
    const endMs = performance.now() + 1;
    while (performance.now() < endMs);
    return undefined;
  });
  for (let i = 0; i < 100; i++) inspection.push(message(String(i)));
  verdict.open(undefined);
  await verdict.opened;
  await nextTurn();
  expect(decided.length).toBeLessThan(60);
  await until(() => decided.length === 100);
});

it('inspection: drops messages that wait when it is stopped, and calls back', async () => {
  const verdict = newGate<undefined>();
  const { inspection, decided, calls } = inspecting(() => verdict.opened);
  for (let i = 0; i < 5_000; i++) inspection.push(message(String(i)));
  const idle = newGate<undefined>();
  inspection.whenIdle(() => idle.open(undefined));
  inspection.stop();
  inspection.push(message('later'));
  verdict.open(undefined);
  await idle.opened;
  expect(decided).toEqual(['0']);
  expect(calls).toEqual(['pause', 'resume', 'read']);
});

it('reading: continues when all users have resumed it', () => {
  const { reading, calls } = inspecting(() => undefined);
  reading.pause();
  reading.pause();
  reading.resume();
  expect([reading.isPaused, calls]).toEqual([true, ['pause']]);
  reading.resume();
  expect([reading.isPaused, calls]).toEqual([false, ['pause', 'resume', 'read']]);
});

it('held messages: keep no more memory than their bytes', () => {
  const read = Buffer.allocUnsafeSlow(65_536).fill('a');
  expect(toHeld({ data: read.subarray(10, 14) }).data.buffer.byteLength).toBe(4);
  expect(toHeld({ data: read }).data).toBe(read);
});
