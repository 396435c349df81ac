import { describe, expect, it } from 'vitest';
import type { SupervisedChild } from '../../../core/supervisor/supervised-child.ts';
import { watchGateways } from '../../../core/supervisor/watch-gateways.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';

function setUp(timeoutMs = 1000) {
  let due: (() => void) | null = null;
  const waits: number[] = [];
  const clock = {
    elapsed: () => 0,
    after(ms: number, callback: () => void) {
      waits.push(ms);
      due = callback;
      return () => {
        due = null;
      };
    },
  };
  const log = newMemoryLog();
  const killed: string[] = [];
  const childOf = (name: string) => ({ plan: { name }, pid: 7, kill: () => killed.push(name) }) as unknown as SupervisedChild;
  const watch = watchGateways(timeoutMs, clock, log);
  const look = (times: number) => {
    for (let i = 0; i < times; i++) due?.();
  };
  return { watch, childOf, killed, waits, lines: log.lines, look };
}

describe('watchGateways', () => {
  it('kills a gateway without heartbeats for the whole timeout, once, and logs it', () => {
    const { watch, childOf, killed, look, waits, lines } = setUp();
    const child = childOf('gateway 0');
    watch.beat(child);
    look(4);
    expect([killed, waits[0]]).toEqual([[], 250]);
    look(5);
    expect(killed).toEqual(['gateway 0']);
    expect(lines).toMatchObject([{ level: 'error', fields: { child: 'gateway 0', childPid: 7, watchdogMs: 1000 } }]);
  });

  it('ignores a gateway that sends heartbeats, that has sent none yet, or that has ended', () => {
    const { watch, childOf, killed, look } = setUp();
    const [beating, ended] = [childOf('beating'), childOf('ended')];
    watch.beat(beating);
    watch.beat(ended);
    watch.forget(ended);
    for (let i = 0; i < 20; i++) {
      look(3);
      watch.beat(beating);
    }
    expect(killed).toEqual([]);
  });

  it('kills no process with a timeout of 0 or after its end', () => {
    const off = setUp(0);
    off.watch.beat(off.childOf('gateway 0'));
    expect(off.waits).toEqual([]);
    const ended = setUp();
    ended.watch.beat(ended.childOf('gateway 0'));
    ended.watch.stop();
    ended.look(10);
    expect(ended.killed).toEqual([]);
  });
});
