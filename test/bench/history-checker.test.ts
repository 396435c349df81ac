import { describe, expect, it } from 'vitest';
import { checkHistory, type Read, type Write } from '../../bench/hot-reload/history-checker.ts';

const write = (version: number, outcome: Write['outcome'] = 'acknowledged'): Write => ({
  version,
  startedMs: version * 100,
  repliedMs: version * 100 + 10,
  outcome,
});
const read = (version: number, atMs: number, incarnation = 1): Read => ({
  version,
  sentMs: atMs - 1,
  receivedMs: atMs,
  incarnation,
});
const check = (writes: Write[], ...reads: Read[][]) =>
  checkHistory({ writes, reads: new Map(reads.map((list, index) => [`g${index + 1}`, list])) });

describe('the history checker', () => {
  it('accepts a history in which every gateway advances and ends with the last write', () => {
    expect(check([write(0), write(1), write(2)], [read(0, 50), read(1, 120), read(2, 230)], [read(0, 50), read(2, 400)])).toEqual(
      [],
    );
  });

  it('reports a change that never arrived', () => {
    expect(check([write(0), write(1)], [read(0, 50), read(0, 900)])).toEqual(['g1: ends with 0, not 1']);
  });

  it('reports a gateway that never replied', () => {
    expect(check([write(0)], [])).toEqual(['g1: never replied']);
  });

  it('reports changes applied in the wrong order', () => {
    const writes = [write(0), write(1), write(2)];
    expect(check(writes, [read(2, 250), read(1, 300), read(2, 350)])).toEqual(['g1 at 300 ms: goes back from 2 to 1']);
  });

  it('lets a restarted process begin with the last stored state', () => {
    expect(check([write(0), write(1)], [read(1, 150, 1), read(0, 300, 2), read(1, 400, 2)])).toEqual([]);
  });

  it('reports rejected, unwritten and premature values', () => {
    const writes = [write(0), write(1, 'refused'), write(2)];
    expect(check(writes, [read(1, 150), read(7, 180), read(2, 190), read(2, 300)])).toEqual(
      [
        'g1 at 150 ms: shows 1, which was refused',
        'g1 at 180 ms: shows 7, which was never written',
        'g1 at 190 ms: goes back from 7 to 2',
        'g1 at 190 ms: shows 2 before it was written',
      ].sort((a, b) => order(a) - order(b)),
    );
  });

  it('accepts a write of unknown outcome whether it shows or not', () => {
    const writes = [write(0), write(1), write(2, 'unknown')];
    expect(check(writes, [read(1, 150)], [read(2, 250)])).toEqual([]);
  });
});

/** The checker reports the visible state before it reports the step back. */
function order(error: string): number {
  return Number(/at (\d+)/.exec(error)?.[1]) * 10 + (error.includes('goes back') ? 1 : 0);
}
