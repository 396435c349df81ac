import { describe, expect, it } from 'vitest';
import type { DocumentReader, DocumentSource } from '../../../admin/define-resource.ts';
import { createReadDocument } from '../../../admin/gateway-api/read-document.ts';

interface Read {
  readonly id: string;
  readonly finish: { resolve(document: object): void; reject(error: Error): void };
}

/** A database whose revision the test sets, and a reader that replies when the test says so. */
function start() {
  const state = { revision: 7 };
  const source = { database: { em: () => ({ execute: async () => [{ revision: state.revision }] }) } };
  const reads: Read[] = [];
  const reader = {
    kind: 'workspace-name',
    read(_: DocumentSource, id: string) {
      return new Promise<object>((resolve, reject) => reads.push({ id, finish: { resolve, reject } }));
    },
  };
  const read = createReadDocument([reader as unknown as DocumentReader], source as unknown as DocumentSource);
  return { state, reads, read: (id: string) => read('workspace-name', id) };
}

describe('reads of one document at the same time', () => {
  it('share one read of its rows at one revision', async () => {
    const { reads, read } = start();
    const replies = [read('one'), read('one'), read('one')];
    const other = read('two');
    await untilCount(reads, 2);
    for (const { id, finish } of reads) finish.resolve({ id });
    expect(await Promise.all(replies)).toEqual(Array(3).fill({ revision: 7, document: { id: 'one' } }));
    expect(await other).toEqual({ revision: 7, document: { id: 'two' } });
    expect(reads.map(({ id }) => id)).toEqual(['one', 'two']);
  });

  it('read again after a change, and after the first read ended', async () => {
    const { state, reads, read } = start();
    const first = read('one');
    await untilCount(reads, 1);
    state.revision = 8;
    const second = read('one');
    await untilCount(reads, 2);
    reads[1]?.finish.resolve({ name: 'new' });
    expect(await second).toEqual({ revision: 8, document: { name: 'new' } });
    reads[0]?.finish.resolve({ name: 'old' });
    expect(await first).toEqual({ revision: 7, document: { name: 'old' } });
    const third = read('one');
    await untilCount(reads, 3);
    reads[2]?.finish.reject(new Error('the database is away'));
    await expect(third).rejects.toThrow('the database is away');
    const fourth = read('one');
    await untilCount(reads, 4);
    reads[3]?.finish.resolve({ name: 'newer' });
    expect(await fourth).toEqual({ revision: 8, document: { name: 'newer' } });
  });
});

/** Lets all pending promises proceed until this many reads began. */
async function untilCount(reads: readonly unknown[], count: number): Promise<void> {
  for (let turns = 0; reads.length < count && turns < 100; turns += 1) await Promise.resolve();
  expect(reads).toHaveLength(count);
}
