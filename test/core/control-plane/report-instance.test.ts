import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { beforeEach, expect, it } from 'vitest';
import { instanceReport } from '../../../core/contract/protocol/instances.ts';
import { startInstanceReports } from '../../../core/control-plane/report-instance.ts';
import { newFakeTime } from '../../support/fakes/fake-time.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';

const about = { deployment: 'eu', tags: { region: 'a' }, sourceType: 'helm', version: '1.2.3' };
let directory = '';
beforeEach(() => {
  directory = join(mkdtempSync(join(tmpdir(), 'svc-instance-')), 'ids');
});

function start(statuses: readonly (number | 'away')[] = [], aheadMs: readonly number[] = []) {
  const time = newFakeTime();
  const log = newMemoryLog();
  const bodies: { readonly path: string; readonly body: Record<string, unknown> }[] = [];
  const reports = startInstanceReports({
    ...{ directory, slot: 1, about, staleMs: 90_000, clock: time.clock, timers: time.timers, log },
    async fetch(_, path, body) {
      const status = statuses[bodies.length] ?? 200;
      bodies.push({ path, body: JSON.parse(Buffer.from(body as Uint8Array).toString()) });
      if (status === 'away') throw new Error('refused');
      const ahead = aheadMs[bodies.length - 1];
      const reply = ahead === undefined ? {} : { nowMs: time.clock.now() - ahead };
      return { status, body: Buffer.from(JSON.stringify(reply)) };
    },
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return { time, log, bodies, reports, turn };
}

it('reports: one at the start, three in the time after which a process is unhealthy, and one when it stops', async () => {
  const { time, bodies, reports, turn } = start();
  await turn();
  expect(bodies).toEqual([
    {
      path: '/internal/v1/instances',
      body: {
        ...about,
        id: expect.any(String),
        host: expect.any(String),
        slot: 1,
        startedAtMs: time.clock.now(),
        isLeaving: false,
      },
    },
  ]);
  expect(v.safeParse(instanceReport, bodies[0]?.body).issues).toBeUndefined();
  for (const _ of [1, 2, 3]) {
    time.advance(30_000);
    await turn();
  }
  expect(bodies).toHaveLength(4);
  await reports.close(1_000);
  expect(bodies.map(({ body }) => body.isLeaving)).toEqual([false, false, false, false, true]);
  expect(time.waiting()).toEqual([]);
});

it('reports: a process of the same slot has the same id, another slot or a damaged file a new one', async () => {
  const idOf = async () => {
    const { bodies, reports, turn } = start();
    await turn();
    await reports.close(1_000);
    return bodies[0]?.body.id;
  };
  const id = await idOf();
  expect(await idOf()).toBe(id);
  writeFileSync(join(directory, '1'), 'damaged');
  expect(await idOf()).not.toBe(id);
});

it('reports: go on after failures, and a rejected one is logged once', async () => {
  const { time, log, bodies, turn } = start(['away', 404, 400, 400, 200]);
  for (const _ of [1, 2, 3, 4, 5]) {
    await turn();
    time.advance(30_000);
  }
  await turn();
  expect(bodies.length).toBeGreaterThanOrEqual(5);
  expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
});

it("reports: a clock that differs from the control plane's by more than 5 s is logged at its beginning and its end", async () => {
  const { time, log, turn } = start([], [0, 4_900, 7_200, 7_300, 100, -90_000]);
  const messages = [];
  for (let at = 0; at < 7; at++) {
    await turn();
    messages.push(log.lines.splice(0).map(({ level, message }) => `${level} ${message}`));
    time.advance(30_000);
  }
  expect(messages).toEqual([
    [],
    [],
    [expect.stringMatching(/^warn the clock of this machine is 7 s ahead of the control plane's/)],
    [],
    [expect.stringMatching(/^info the clock of this machine agrees/)],
    [expect.stringMatching(/^warn the clock of this machine is 90 s behind the control plane's/)],
    [],
  ]);
});
