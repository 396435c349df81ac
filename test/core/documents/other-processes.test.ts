import { expect, it } from 'vitest';
import { createOtherProcesses } from '../../../core/documents/other-processes.ts';
import { newFakeTime } from '../../support/fakes/fake-time.ts';
import { sampleKey } from '../../support/samples/sample-documents.ts';

it('look-ups in the files of other processes read the files once in five seconds', async () => {
  const { timers, advance } = newFakeTime();
  const stored = { kind: 'api-key' as const, id: 'key-a', document: sampleKey('key-a'), revision: 1, fresh: true };
  let reads = 0;
  const find = createOtherProcesses(async () => {
    reads += 1;
    return [stored];
  }, timers);
  expect(await Promise.all(['key-a', 'key-b', 'key-a'].map((id) => find('api-key', id)))).toEqual([stored, null, stored]);
  expect(await find('config', 'key-a')).toBeNull();
  advance(4999);
  await find('api-key', 'key-b');
  expect(reads).toBe(1);
  advance(1);
  await find('api-key', 'key-b');
  expect(reads).toBe(2);
});
